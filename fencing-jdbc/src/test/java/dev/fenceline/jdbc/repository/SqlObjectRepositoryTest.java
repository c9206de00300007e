package dev.fenceline.jdbc.repository;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.fenceline.UnfencedWriteException;
import dev.fenceline.jdbc.JdbiFence;
import org.jdbi.v3.core.Handle;
import org.jdbi.v3.core.Jdbi;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@Tag("server")
class SqlObjectRepositoryTest extends JdbiRepositoryContract {

    @Override
    Accounts on(Handle handle) {
        return handle.attach(SqlAccounts.class);
    }

    @Override
    RepositoryBuilder<Accounts> wrapping(Class<Accounts> type) {
        return FencedRepository.of(type, fence, bank.locks()).sqlObject(SqlAccounts.class);
    }

    @Test
    void rule13ADefaultMethodIsJdbisAndNeedsARule() throws Exception {
        assertThatThrownBy(() -> proxy.add(42, 5)).isInstanceOf(UnfencedWriteException.class);
        accounts.unit(Bank.account(42), a -> a.add(42, 5));

        assertThat(bank.balance(42)).isEqualTo(105);
    }

    @Test
    void aJdbiWithoutThePluginIsFoundWhenTheRepositoryIsBuilt() {
        RepositoryBuilder<Accounts> builder =
                ruled(FencedRepository.of(Accounts.class, JdbiFence.on(Jdbi.create(bank.source())), bank.locks())
                        .sqlObject(SqlAccounts.class));

        assertThatThrownBy(builder::build)
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage(
                        "FencedRepository of Accounts cannot be built:\n- nothing in this Jdbi can attach SqlAccounts to a"
                                + " handle: call jdbi.installPlugin(new SqlObjectPlugin()), and annotate its methods with @SqlQuery and"
                                + " @SqlUpdate");
    }
}
