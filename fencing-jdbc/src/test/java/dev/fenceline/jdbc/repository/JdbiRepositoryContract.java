package dev.fenceline.jdbc.repository;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.fenceline.FencedLease;
import dev.fenceline.FencelineListener;
import dev.fenceline.FencingToken;
import dev.fenceline.TransactionRolledBackException;
import dev.fenceline.UnfencedWriteException;
import dev.fenceline.jdbc.Claim;
import dev.fenceline.jdbc.JdbiFence;
import java.util.List;
import java.util.Optional;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.jdbi.v3.core.Handle;
import org.jdbi.v3.core.Jdbi;
import org.junit.jupiter.api.Test;

/** What holds for both kinds over Jdbi: a unit is one transaction. */
abstract class JdbiRepositoryContract extends FencedRepositoryContract {

    final Jdbi jdbi = bank.jdbi();
    final JdbiFence fence = JdbiFence.on(jdbi).listener(FencelineListener.none());

    abstract Accounts on(Handle handle);

    @Override
    void unwrapped(BareWork work) {
        try {
            jdbi.useHandle(handle -> work.with(on(handle)));
        } catch (Exception e) {
            throw new IllegalStateException(e);
        }
    }

    @Override
    Optional<FencingToken> current() {
        return fence.current().map(Claim::token);
    }

    @Test
    void rule2AUnitIsOneTransaction() throws Exception {
        accounts.unit(Bank.account(42), a -> {
            a.save(a.find(42).plus(5));
            a.withdraw(42, 10);
            assertThat(bank.balance(42)).as("nothing is committed yet").isEqualTo(100);
            assertThat(fence.handle()).isPresent();
        });

        assertThat(bank.balance(42)).isEqualTo(95);
        assertThat(fence.handle()).isEmpty();
    }

    @Test
    void rule2AnExceptionThroughAnInnerBoundaryUndoesTheUnitEvenIfItIsSwallowed() {
        assertThatThrownBy(() -> accounts.unit(Bank.account(42), a -> {
                    a.save(a.find(42).plus(5));
                    assertThatThrownBy(() -> a.fail(42, new IllegalStateException("of the repository")))
                            .hasMessage("of the repository");
                }))
                .isInstanceOf(TransactionRolledBackException.class)
                .hasMessageContaining("an exception left an inner transaction (java.lang.IllegalStateException: of the"
                        + " repository), and a unit is one transaction");
        assertThat(bank.balance(42)).isEqualTo(100);
    }

    @Test
    void rule2AnExceptionThatLeavesNoBoundaryMayBeSwallowed() throws Exception {
        accounts.unit(Bank.account(42), a -> {
            assertThatThrownBy(() -> a.saveAll(null)).isInstanceOf(IllegalArgumentException.class);
            a.save(a.find(42).plus(5));
        });

        assertThat(bank.balance(42)).isEqualTo(105);
    }

    @Test
    void rule5ATransactionThatIsOpenAlreadyIsRefusedBeforeALockIsTaken() throws Exception {
        try (FencedLease held =
                bank.locks().fenced(Bank.account(42)).tryAcquire().orElseThrow()) {
            jdbi.useTransaction(handle -> {
                handle.execute("SELECT balance FROM account WHERE id = 42");
                assertThatThrownBy(() -> accounts.unit(Bank.account(42), a -> a.find(42)))
                        .isInstanceOf(UnfencedWriteException.class)
                        .hasMessage(
                                "Unit of 'account:42' refused: this thread has a handle of the fence's Jdbi in a transaction"
                                        + " already, and what that has read may be older than the claim. Nothing was acquired. Open the"
                                        + " unit outside of the transaction, and use the handle that it gives.");
                assertThatThrownBy(() -> proxy.withdraw(42, 1)).isInstanceOf(UnfencedWriteException.class);
            });
            assertThat(held.isHeld())
                    .as("who was refused had not waited for it")
                    .isTrue();
        }
        jdbi.useHandle(handle -> {
            handle.begin();
            handle.commit();
            accounts.unit(Bank.account(42), a -> a.save(a.find(42).plus(5)));
        });
        try (Handle other = bank.jdbi().open()) {
            other.begin();
            accounts.unit(Bank.account(42), a -> a.save(a.find(42).plus(5)));
            other.rollback();
        }
        assertThat(bank.balance(42)).isEqualTo(110);
    }

    @Test
    void rule5AnotherHandleInsideOfTheUnitIsRefusedSinceItWouldWriteBesideIt() throws Exception {
        accounts.unit(Bank.account(42), a -> {
            a.save(a.find(42).plus(5));
            for (ThrowingCallable beside : List.<ThrowingCallable>of(
                    jdbi::open,
                    () -> jdbi.useHandle(handle -> handle.execute("UPDATE account SET balance = 0")),
                    () -> jdbi.useTransaction(handle -> handle.execute("UPDATE account SET balance = 0")),
                    () -> jdbi.onDemand(SqlAccounts.class).save(42, 0))) {
                assertThatThrownBy(beside)
                        .isInstanceOf(UnfencedWriteException.class)
                        .hasMessage("A handle of Jdbi in a unit on PostgreSQL guard 'account:42' refused: what it reads"
                                + " and writes would be in no fenced transaction. Nothing was sent. Use the handle"
                                + " that the unit was given, or fence.handle(), and attach to it instead of"
                                + " onDemand; or open the handle from a Jdbi of its own if it is to write beside"
                                + " the unit.");
            }
        });
        jdbi.useHandle(handle -> handle.execute("UPDATE account SET balance = balance + 1 WHERE id = 42"));

        assertThat(bank.balance(42)).isEqualTo(106);
    }

    @Test
    void rule6ANestedUnitIsPartOfTheTransactionAndItsFailureUndoesAll() {
        assertThatThrownBy(() -> accounts.unit(Bank.account(42), a -> {
                    a.save(a.find(42).plus(5));
                    assertThatThrownBy(() -> accounts.unit(Bank.account(42), b -> {
                                throw new IllegalStateException("of the inner one");
                            }))
                            .hasMessage("of the inner one");
                }))
                .isInstanceOf(TransactionRolledBackException.class)
                .hasMessageContaining("of the inner one");
        assertThat(bank.balance(42)).isEqualTo(100);
    }

    @Test
    void rule6TwoRepositoriesShareAUnitAndItsHandle() throws Exception {
        FencedRepository<Accounts> others = ruled(wrapping(Accounts.class)).build();

        accounts.unit(Bank.account(42), a -> {
            a.save(a.find(42).plus(5));
            assertThat(others.proxy().find(42).balance()).isEqualTo(105);
            others.proxy().save(42, 7);
        });

        assertThat(bank.balance(42)).isEqualTo(7);
    }
}
