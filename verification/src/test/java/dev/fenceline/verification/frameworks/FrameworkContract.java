package dev.fenceline.verification.frameworks;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;

import dev.fenceline.Action;
import dev.fenceline.FencelineException;
import dev.fenceline.FencingToken;
import dev.fenceline.StaleTokenException;
import dev.fenceline.jdbc.Claim;
import dev.fenceline.jdbc.PostgresFence;
import java.sql.Connection;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.function.IntConsumer;
import javax.sql.DataSource;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;

/** What holds of every framework that is built on the data source of a fence, with transactions of its own making. */
@Tag("server")
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
abstract class FrameworkContract {

    private static final Duration LIMIT = Duration.ofSeconds(60);

    final Ledger ledger = Ledger.PROTECTED;
    final PostgresFence fence = PostgresFence.on(ledger.source());

    /** Built on the data source of the fence. */
    Framework fenced;

    /** The same on the pool itself, and on a table that is not protected. */
    Framework plain;

    abstract Framework builtOn(DataSource source);

    @BeforeAll
    void build() {
        fenced = builtOn(fence.dataSource());
        plain = builtOn(Ledger.OPEN.source());
    }

    @AfterAll
    void close() {
        fenced.close();
        plain.close();
    }

    void inUnit(int account, Action<Claim<Connection>, RuntimeException> work) {
        try {
            fence.unit(Ledger.locks().fenced(Ledger.name(account)))
                    .waitAtMost(LIMIT)
                    .run(work);
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    /** The exception is ours, or has ours inside, and names both. */
    static void assertStale(Throwable thrown, FencingToken presented, FencingToken newest) {
        assertThat(thrown).as("what the framework threw").isNotNull();
        assertThat(FencelineException.in(thrown))
                .as("ours inside of %s", thrown)
                .get()
                .isInstanceOfSatisfying(StaleTokenException.class, stale -> {
                    assertThat(stale.presented()).isEqualTo(presented);
                    assertThat(stale.newest()).isEqualTo(newest);
                    assertThat(stale)
                            .hasMessageContaining(
                                    "A newer holder has taken over; stop, and do not retry with this token.");
                });
    }

    @Test
    void eachOfItsTransactionsInAUnitIsFenced() {
        int account = ledger.account(100);
        inUnit(account, claim -> {
            fenced.transaction(() -> fenced.write(account, fenced.read(account) + 10));
            fenced.transaction(() -> fenced.write(account, fenced.read(account) + 20));
        });
        assertThat(ledger.balance(account)).isEqualTo(130);
    }

    @Test
    void outsideOfAUnitItReadsAndAProtectedTableRefusesItsWrites() {
        int account = ledger.account(100);
        assertThat(fenced.<Long>transaction(() -> fenced.read(account))).isEqualTo(100);
        assertThatThrownBy(() -> fenced.transaction(() -> fenced.write(account, 110)))
                .hasStackTraceContaining("it needs lock 'account:" + account + "'");
        assertThat(ledger.balance(account)).isEqualTo(100);
    }

    @Test
    void whoWasOvertakenBetweenItsTransactionsIsRefusedAndOursIsFoundUnderTheirs() {
        int account = ledger.account(100);
        List<FencingToken> tokens = new ArrayList<>();
        Throwable thrown = catchThrowable(() -> inUnit(account, claim -> {
            long read = fenced.transaction(() -> fenced.read(account));
            tokens.add(claim.token());
            tokens.add(ledger.overtake(account));
            fenced.transaction(() -> fenced.write(account, read + 10));
        }));
        assertStale(thrown, tokens.get(0), tokens.get(1));
        assertThat(ledger.balance(account)).isEqualTo(100);
        inUnit(account, claim -> fenced.transaction(() -> fenced.write(account, fenced.read(account) + 20)));
        assertThat(ledger.balance(account)).isEqualTo(120);
    }

    @Test
    void whoWasOvertakenInsideItsTransactionIsRefusedAndOursIsFoundUnderTheirs() {
        int account = ledger.account(100);
        List<FencingToken> tokens = new ArrayList<>();
        Throwable thrown = catchThrowable(() -> inUnit(account, claim -> {
            fenced.transaction(() -> {
                long read = fenced.read(account);
                tokens.add(claim.token());
                ledger.endIdleTransactions();
                tokens.add(ledger.overtake(account));
                fenced.write(account, read + 10);
            });
        }));
        assertStale(thrown, tokens.get(0), tokens.get(1));
        assertThat(ledger.balance(account)).isEqualTo(100);
        inUnit(account, claim -> fenced.transaction(() -> fenced.write(account, fenced.read(account) + 20)));
        assertThat(ledger.balance(account)).isEqualTo(120);
    }

    @Test
    void anExceptionOfTheApplicationRollsBackAndTheUnitGoesOn() {
        int account = ledger.account(100);
        IllegalArgumentException own = new IllegalArgumentException("the application's own");
        inUnit(account, claim -> {
            assertThatThrownBy(() -> fenced.transaction(() -> {
                        fenced.write(account, 0);
                        throw own;
                    }))
                    .isSameAs(own);
            fenced.transaction(() -> fenced.write(account, fenced.read(account) + 10));
        });
        assertThat(ledger.balance(account)).isEqualTo(110);
    }

    @Test
    void anExceptionOfTheApplicationComesOutOfTheUnitAsItIs() {
        int account = ledger.account(100);
        IllegalArgumentException own = new IllegalArgumentException("the application's own");
        assertThatThrownBy(() -> inUnit(
                        account,
                        claim -> fenced.transaction(() -> {
                            fenced.write(account, 0);
                            throw own;
                        })))
                .isSameAs(own)
                .hasNoSuppressedExceptions();
        assertThat(ledger.balance(account)).isEqualTo(100);
    }

    @Test
    void aTransactionWhoseFailureWasSwallowedIsNeverReportedAsCommitted() {
        int account = ledger.account(100);
        assertThatThrownBy(() -> inUnit(
                        account,
                        claim -> fenced.transaction(() -> {
                            fenced.write(account, 110);
                            assertThatThrownBy(fenced::fail).hasStackTraceContaining("division by zero");
                        })))
                .isInstanceOf(RuntimeException.class);
        assertThat(ledger.balance(account)).isEqualTo(100);
    }

    @Test
    void twoThreadsThatReadChangeAndWriteLoseNothingInUnits() throws Exception {
        int account = ledger.account(100);
        CountDownLatch bothHaveRead = new CountDownLatch(2);
        // Where each waits for the other to have read, it waits in vain: only one of them is let in.
        bothAtOnce(amount -> inUnit(
                account,
                claim -> fenced.transaction(() -> {
                    long read = fenced.read(account);
                    awaitOther(bothHaveRead, Duration.ofMillis(200));
                    fenced.write(account, read + amount);
                })));
        assertThat(ledger.balance(account)).isEqualTo(130);
    }

    /** The same without the fence. */
    @Test
    void twoThreadsThatReadChangeAndWriteLoseAnUpdateOnAPlainDataSource() throws Exception {
        int account = Ledger.OPEN.account(100);
        CountDownLatch bothHaveRead = new CountDownLatch(2);
        bothAtOnce(amount -> plain.transaction(() -> {
            long read = plain.read(account);
            assertThat(awaitOther(bothHaveRead, LIMIT)).isTrue();
            plain.write(account, read + amount);
        }));
        assertThat(Ledger.OPEN.balance(account)).isIn(110L, 120L);
    }

    private static boolean awaitOther(CountDownLatch bothHaveRead, Duration limit) {
        bothHaveRead.countDown();
        try {
            return bothHaveRead.await(limit.toMillis(), TimeUnit.MILLISECONDS);
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    private static void bothAtOnce(IntConsumer writer) throws Exception {
        ExecutorService threads = Executors.newFixedThreadPool(2);
        try {
            Future<?> one = threads.submit(() -> writer.accept(10));
            Future<?> other = threads.submit(() -> writer.accept(20));
            one.get(LIMIT.toSeconds(), TimeUnit.SECONDS);
            other.get(LIMIT.toSeconds(), TimeUnit.SECONDS);
        } finally {
            threads.shutdownNow();
        }
    }
}
