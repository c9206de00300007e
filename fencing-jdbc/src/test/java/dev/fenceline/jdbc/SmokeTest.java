package dev.fenceline.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.fenceline.RetryableConflictException;
import dev.fenceline.StaleTokenException;
import dev.fenceline.migrations.FenceMigrations;
import dev.fenceline.testkit.FaultProxy;
import dev.fenceline.testkit.FaultProxy.Cut;
import java.sql.Connection;
import java.time.Duration;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import javax.sql.DataSource;
import org.jdbi.v3.core.Handle;
import org.jdbi.v3.core.Jdbi;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Each form once, as a role with no more rights than it needs. Quick enough for every supported version of PostgreSQL: the
 * profile {@code postgres-versions} runs this on 14 to 18.
 */
@Tag("server")
@Tag("smoke")
class SmokeTest extends TwoGrants {

    /** Of the class path, unless the profile has named another server. */
    private static final int EXPECTED = Integer.getInteger("fenceline.postgres.expected", 18);

    static DataSource app;

    final ExecutorService threads = Executors.newCachedThreadPool();
    PostgresFence fence;

    @BeforeAll
    static void leastPrivilegedRole() {
        String role = "smoke_" + database.name();
        database.execute("CREATE ROLE " + role + " LOGIN; GRANT SELECT, INSERT, UPDATE, DELETE ON account TO " + role);
        FenceMigrations.on(database.source()).install();
        FenceMigrations.on(database.source()).grantTo(role);
        app = database.server().dataSource(database.name(), role);
    }

    @BeforeEach
    void fence() {
        fence = PostgresFence.on(app);
    }

    @AfterEach
    void stop() {
        threads.shutdownNow();
    }

    @Test
    void theServerIsTheOneThatWasToBeTested() {
        assertThat(database.server().majorVersion()).isEqualTo(EXPECTED);
    }

    @Test
    void aWriterThatWasOvertakenIsRefused() {
        Claim<Connection> overtaken = fence.claim(older);
        JdbcWork.add(overtaken, 1, 10);
        JdbcWork.add(fence.claim(newer), 1, 10);

        assertThatThrownBy(() -> overtaken.useTransaction(c -> TestDatabase.write(c, 1, 0)))
                .isInstanceOf(StaleTokenException.class)
                .hasMessageContaining("token " + older + " is older by");
        assertThatThrownBy(() -> fence.claim(older))
                .isInstanceOf(StaleTokenException.class)
                .hasMessageContaining("token " + older + " is older by");
        JdbcWork.add(fence.resume(newer), 1, 10);
        assertThat(database.balance(1)).isEqualTo(130);
    }

    @Test
    void theHandleOfJdbiIsFencedToo() {
        JdbiFence onJdbi = JdbiFence.on(Jdbi.create(app));
        Claim<Handle> overtaken = onJdbi.claim(older);
        overtaken.useTransaction(
                handle -> handle.execute("UPDATE account SET balance = balance + ? WHERE id = ?", 10, 1));
        fence.claim(newer);

        assertThatThrownBy(() -> overtaken.useTransaction(handle -> handle.execute("DELETE FROM account")))
                .isInstanceOf(StaleTokenException.class)
                .hasMessageContaining("token " + older + " is older by");
        assertThat(database.balance(1)).isEqualTo(110);
    }

    @Test
    void aCommitWithoutAnAnswerIsSettled() throws Exception {
        try (FaultProxy proxy =
                FaultProxy.to(database.server().host(), database.server().port())) {
            Claim<Connection> claim = PostgresFence.on(database.sourceAt(proxy.host(), proxy.port()))
                    .claim(older);

            claim.useTransaction(c -> {
                TestDatabase.write(c, 1, 110);
                proxy.onRequest("COMMIT").loseReply(Cut.RST);
            });

            assertThat(database.balance(1)).isEqualTo(110);
        }
    }

    @Test
    void twoTransactionsOfOneClaimLoseNothingAboveReadCommittedEither() throws Exception {
        Claim<Connection> claim = fence.claim(older);
        var strict = database.sourceNamed("strict");
        strict.setOptions("-c default_transaction_isolation=serializable");
        Claim<Connection> second = PostgresFence.on(strict).resume(older);
        Future<?> waiting = claim.inTransaction(c -> {
            long before = TestDatabase.read(c, 1);
            Future<?> other = threads.submit(() -> JdbcWork.add(second, 1, 10));
            database.awaitLockWait("strict");
            TestDatabase.write(c, 1, before + 10);
            return other;
        });

        assertThatThrownBy(() -> waiting.get(20, TimeUnit.SECONDS))
                .hasCauseInstanceOf(RetryableConflictException.class)
                .hasMessageContaining("SQLSTATE 40001");
        JdbcWork.add(second, 1, 10);
        assertThat(database.balance(1)).isEqualTo(120);
    }

    @Test
    void aBlockedClaimNamesTheBlocker() throws Exception {
        Claim<Connection> holder =
                PostgresFence.on(database.sourceNamed("the-holder")).claim(older);

        holder.useTransaction(c -> {
            TestDatabase.write(c, 1, 110);
            assertThatThrownBy(() -> fence.claimTimeout(Duration.ofMillis(50)).claim(newer))
                    .isInstanceOf(RetryableConflictException.class)
                    .hasMessageContaining("application_name 'the-holder'");
        });
    }
}
