package dev.fenceline.jdbc.repository;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.fenceline.FencelineListener;
import dev.fenceline.jdbc.PostgresFence;
import java.sql.SQLException;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Semantics 7: what a repository calls on itself does not come past the proxy, and only a protected table sees it. */
@Tag("server")
class EntryThroughThisTest {

    static Bank bank;
    static PostgresFence fence;
    static JdbcAccounts itself;

    @BeforeAll
    static void create() {
        bank = Bank.create();
        fence = PostgresFence.on(bank.source()).listener(FencelineListener.none());
        itself = new JdbcAccounts(fence.dataSource());
    }

    @AfterAll
    static void close() {
        bank.locks().close();
    }

    @BeforeEach
    void open() {
        bank.execute("DROP TABLE account");
        bank.execute("CREATE TABLE account (id int PRIMARY KEY, balance bigint NOT NULL)");
        bank.open();
    }

    @Test
    void rule7AFirstEntryThroughThisIsAcceptedWhereTheTableIsNotProtected() {
        itself.close(42);

        assertThat(bank.balance(42)).as("written without the fence").isZero();
    }

    @Test
    void rule7AFirstEntryThroughThisIsRefusedByAProtectedTableAndAUnitIsNot() throws Exception {
        bank.execute("SELECT fenceline.protect('account', 'account', '{id}', 'enforce')");

        assertThatThrownBy(() -> itself.close(42))
                .isInstanceOf(IllegalStateException.class)
                .cause()
                .isInstanceOfSatisfying(
                        SQLException.class, e -> assertThat(e.getSQLState()).isEqualTo("FL001"))
                .hasMessageContaining("it needs lock 'account:42'");
        assertThat(bank.balance(42)).isEqualTo(100);
        FencedRepository.of(JdbcAccounts.class, fence, bank.locks())
                .delegate(itself)
                .buildUnits()
                .unit(Bank.account(42), a -> a.close(42));
        assertThat(bank.balance(42)).isZero();
    }
}
