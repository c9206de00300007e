package dev.fenceline.jdbc.repository;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.atomic.AtomicInteger;
import org.jdbi.v3.core.Handle;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@Tag("server")
class HandleRepositoryTest extends JdbiRepositoryContract {

    @Override
    Accounts on(Handle handle) {
        return new HandleAccounts(handle);
    }

    @Override
    RepositoryBuilder<Accounts> wrapping(Class<Accounts> type) {
        return FencedRepository.of(type, fence, bank.locks()).delegate(HandleAccounts::new);
    }

    @Test
    void rule2AUnitHasOneDelegateAndEachReadOutsideItsOwn() throws Exception {
        AtomicInteger made = new AtomicInteger();
        FencedRepository<Accounts> counted = ruled(
                        FencedRepository.of(Accounts.class, fence, bank.locks()).delegate(handle -> {
                            made.incrementAndGet();
                            return new HandleAccounts(handle);
                        }))
                .build();

        counted.unit(Bank.account(42), a -> {
            a.save(a.find(42).plus(5));
            a.withdraw(42, 1);
        });
        assertThat(made).hasValue(1);
        counted.proxy().find(42);
        counted.proxy().find(42);
        assertThat(made).hasValue(3);
    }

    @Test
    void rule13ADefaultMethodNeedsARuleAsWhatItRunsOnIsNotKnownBefore() throws Exception {
        accounts.unit(Bank.account(42), a -> a.add(42, 5));

        assertThat(bank.balance(42)).isEqualTo(105);
    }
}
