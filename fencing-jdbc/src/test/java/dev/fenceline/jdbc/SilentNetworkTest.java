package dev.fenceline.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.fenceline.BackendUnavailableException;
import dev.fenceline.FencedLease;
import dev.fenceline.OutcomeUnknownException;
import dev.fenceline.testkit.FaultProxy;
import java.sql.Connection;
import java.time.Duration;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** A network that falls silent without ending: every step of ours gives up, and says what is certain. */
@Tag("server")
class SilentNetworkTest {

    // Patience of a lost lease, the allowance for the network, and time for a busy machine.
    private static final Duration LIMIT = Duration.ofSeconds(30);

    static TestDatabase database;

    final ExecutorService threads = Executors.newCachedThreadPool();

    @BeforeAll
    static void create() {
        database = TestDatabase.create();
        for (int account = 1; account <= 8; account++) {
            database.account(account, 100);
        }
    }

    @AfterEach
    void stop() {
        threads.shutdownNow();
    }

    private interface Step {
        void run(FaultProxy proxy, PostgresFence fence, Claim<Connection> claim) throws Exception;
    }

    /** Runs a step over a line of its own, under a claim whose lease is over, so that patience is a second. */
    private Future<?> over(Step step) {
        return threads.submit(() -> {
            FencedLease lease = Grants.lease(Grants.freshLock());
            try (FaultProxy proxy =
                    FaultProxy.to(database.server().host(), database.server().port())) {
                PostgresFence fence = PostgresFence.on(database.sourceAt(proxy.host(), proxy.port()));
                Claim<Connection> claim = fence.claim(lease);
                lease.close();
                step.run(proxy, fence, claim);
            }
            return null;
        });
    }

    @Test
    void noStepWaitsForASilentNetworkForEver() throws Exception {
        Future<?>[] steps = {
            over((proxy, fence, claim) -> {
                var held = proxy.onRequest("enter_v2").holdReply();
                assertNothingCommitted(claim, 1);
                assertThat(held.fired()).isTrue();
            }),
            over((proxy, fence, claim) -> {
                var held = proxy.onRequest("leave_v1").holdReply();
                assertNothingCommitted(claim, 2);
                assertThat(held.fired()).isTrue();
            }),
            over((proxy, fence, claim) -> {
                claim.useTransaction(c -> {
                    TestDatabase.write(c, 3, 110);
                    proxy.onRequest("COMMIT").holdReply();
                });
                assertThat(database.balance(3)).as("the resolver found it").isEqualTo(110);
            }),
            over((proxy, fence, claim) -> {
                var held = proxy.onRequest("COMMIT").holdRequest();
                assertNothingCommitted(claim, 4);
                held.letGo();
            }),
            over((proxy, fence, claim) -> {
                proxy.onRequest("COMMIT").dropRequest(FaultProxy.Cut.RST);
                var held = proxy.onRequest("resolve_v1").holdReply();
                assertThatThrownBy(() -> claim.useTransaction(c -> TestDatabase.write(c, 5, 0)))
                        .isInstanceOf(OutcomeUnknownException.class)
                        .hasMessageContaining("asking did not settle it");
                assertThat(held.fired()).isTrue();
            }),
            over((proxy, fence, claim) -> {
                proxy.onRequest("leave_v1").dropRequest(FaultProxy.Cut.RST);
                var held = proxy.onRequest("marks_v1").holdReply();
                assertThatThrownBy(() -> claim.useTransaction(c -> TestDatabase.write(c, 6, 0)))
                        .isInstanceOf(BackendUnavailableException.class)
                        .hasMessageEndingWith(
                                "Nothing of it was committed. Run it again under the same claim when the database"
                                        + " answers.");
                assertThat(held.fired()).isTrue();
            }),
            over((proxy, fence, claim) -> {
                var held = proxy.onRequest("marks_v1").holdReply();
                assertThatThrownBy(() -> fence.resume(claim.token()))
                        .isInstanceOf(BackendUnavailableException.class)
                        .hasMessageContaining("Nothing happened; try again.");
                assertThat(held.fired()).isTrue();
            }),
            over((proxy, fence, claim) -> {
                // The user's own statements are the user's to limit, and what fails behind them is rolled back in time.
                var own = new IllegalStateException("of the user");
                assertThatThrownBy(() -> claim.useTransaction(c -> {
                            assertThat(c.getNetworkTimeout()).isZero();
                            TestDatabase.write(c, 8, 0);
                            proxy.onRequest("status_v1").holdReply();
                            throw own;
                        }))
                        .isSameAs(own)
                        .satisfies(e -> assertThat(e.getSuppressed())
                                .singleElement()
                                .isInstanceOf(BackendUnavailableException.class));
            }),
        };
        for (Future<?> step : steps) {
            step.get(LIMIT.toSeconds(), TimeUnit.SECONDS);
        }
        for (int account : new int[] {1, 2, 4, 5, 6, 8}) {
            assertThat(database.balance(account)).as("account " + account).isEqualTo(100);
        }
    }

    private static void assertNothingCommitted(Claim<Connection> claim, int account) {
        assertThatThrownBy(() -> claim.useTransaction(c -> TestDatabase.write(c, account, 0)))
                .isInstanceOf(BackendUnavailableException.class)
                .hasMessageContaining("the connection was lost: ")
                .hasMessageContaining("Nothing of it was committed.");
    }
}
