package dev.fenceline.jdbc.repository;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.fenceline.FencelineException;
import dev.fenceline.FencelineListener;
import dev.fenceline.FencingToken;
import dev.fenceline.StaleTokenException;
import dev.fenceline.UnfencedWriteException;
import dev.fenceline.jdbc.Claim;
import dev.fenceline.jdbc.PostgresFence;
import java.sql.Connection;
import java.sql.Statement;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@Tag("server")
class JdbcRepositoryTest extends FencedRepositoryContract {

    final PostgresFence fence = PostgresFence.on(bank.source()).listener(FencelineListener.none());

    @Override
    RepositoryBuilder<Accounts> wrapping(Class<Accounts> type) {
        return FencedRepository.of(type, fence, bank.locks()).delegate(new JdbcAccounts(fence.dataSource()));
    }

    @Override
    Optional<FencingToken> current() {
        return fence.current().map(Claim::token);
    }

    @Override
    void unwrapped(BareWork work) {
        try {
            work.with(new JdbcAccounts(bank.source()));
        } catch (Exception e) {
            throw new IllegalStateException(e);
        }
    }

    @Test
    void rule1AWriterThatSleptBetweenItsReadAndItsWriteIsRefused() {
        assertThatThrownBy(() -> accounts.unit(Bank.account(42), a -> {
                    Account read = a.find(42);
                    bank.overtake(current().orElseThrow());
                    bank.execute("UPDATE account SET balance = 7 WHERE id = 42");
                    a.save(read.plus(5));
                }))
                .satisfies(thrown ->
                        assertThat(FencelineException.in(thrown)).get().isInstanceOf(StaleTokenException.class));
        assertThat(bank.balance(42)).as("what the newer one wrote").isEqualTo(7);
    }

    @Test
    void rule2EachTransactionOfAUnitIsCommittedByItself() throws Exception {
        accounts.unit(Bank.account(42), a -> {
            a.save(a.find(42).plus(5));
            assertThat(bank.balance(42)).isEqualTo(105);
            a.withdraw(42, 10);
            assertThat(bank.balance(42)).isEqualTo(95);
        });

        assertThat(bank.balance(42)).isEqualTo(95);
    }

    @Test
    void rule13NothingIsRetriedOnceSomethingIsCommitted() {
        FencedRepository<Accounts> stubborn =
                ruled(wrapping(Accounts.class)).retries(2).build();
        AtomicInteger runs = new AtomicInteger();

        assertThatThrownBy(() -> stubborn.unit(Bank.account(42), a -> {
                    runs.incrementAndGet();
                    a.save(a.find(42).plus(5));
                    bank.overtake(current().orElseThrow());
                    a.save(a.find(42).plus(1));
                }))
                .satisfies(thrown -> assertThat(FencelineException.in(thrown))
                        .get()
                        .isInstanceOf(StaleTokenException.class)
                        .satisfies(stale -> assertThat(stale)
                                .hasMessageContaining(
                                        "(after 2 committed transactions of this unit, reads included)")));
        assertThat(runs).hasValue(1);
        assertThat(bank.balance(42)).isEqualTo(105);
    }

    @Test
    void rule13NothingIsRetriedOnceItIsUnknownWhatIsCommitted() {
        FencedRepository<Accounts> stubborn =
                ruled(wrapping(Accounts.class)).retries(2).build();
        AtomicInteger runs = new AtomicInteger();

        assertThatThrownBy(() -> stubborn.unit(Bank.account(42), a -> {
                    runs.incrementAndGet();
                    try (Connection connection = fence.dataSource().getConnection();
                            Statement statement = connection.createStatement()) {
                        connection.setAutoCommit(false);
                        statement.execute("UPDATE account SET balance = balance + 5 WHERE id = 42; COMMIT; SELECT 1");
                        assertThatThrownBy(connection::commit).isInstanceOf(UnfencedWriteException.class);
                    }
                    bank.overtake(current().orElseThrow());
                    a.find(42);
                }))
                .satisfies(thrown ->
                        assertThat(FencelineException.in(thrown)).get().isInstanceOf(StaleTokenException.class));
        assertThat(runs).hasValue(1);
        assertThat(bank.balance(42)).as("committed past the fence").isEqualTo(105);
    }

    @Test
    void rule13ADefaultMethodRunsOnTheProxy() throws Exception {
        assertThatThrownBy(() -> proxy.add(42, 5))
                .isInstanceOf(UnfencedWriteException.class)
                .hasMessage(
                        "Accounts.save(Account) under 'account:42', called by the default method add(int, long), refused outside of"
                                + " a unit: what it writes was computed from something read before, and whatever was written in between"
                                + " would be lost. Nothing was called. If add(int, long) reads, computes and writes all by itself, name it"
                                + " in .selfContained(\"add\"): then one call of it is one unit. Else call it in one:"
                                + " accounts.unit(LockName.of(\"account\", 42), a -> { a.add(…); });");
        assertThatThrownBy(() -> proxy.save(new Account(42, 0)))
                .as("nothing of the default method is left")
                .hasMessageStartingWith("Accounts.save(Account) under 'account:42' refused outside");
        accounts.unit(Bank.account(42), a -> a.add(42, 5));
        ruled(wrapping(Accounts.class)).selfContained("add").build().proxy().add(42, 7);

        assertThat(bank.balance(42)).isEqualTo(112);
    }

    @Test
    void rule13AClassWithoutAnInterfaceRunsUnitsAsItIs() throws Exception {
        RepositoryUnits<JdbcAccounts> units = FencedRepository.of(JdbcAccounts.class, fence, bank.locks())
                .delegate(new JdbcAccounts(fence.dataSource()))
                .buildUnits();

        long left = units.<Long, Overdrawn>inUnit(Bank.account(42), a -> {
            a.save(a.find(42).plus(5));
            return a.withdraw(42, 10);
        });
        assertThat(left).isEqualTo(95);
        assertThatThrownBy(() -> units.unit(Bank.account(42), a -> {
                    Account read = a.find(42);
                    bank.overtake(current().orElseThrow());
                    a.save(read.plus(5));
                }))
                .satisfies(thrown ->
                        assertThat(FencelineException.in(thrown)).get().isInstanceOf(StaleTokenException.class));
        assertThat(bank.balance(42)).isEqualTo(95);
    }
}
