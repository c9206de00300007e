package dev.fenceline.jdbc.repository;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.fenceline.FencelineListener;
import dev.fenceline.LockName;
import dev.fenceline.jdbc.PostgresFence;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.List;
import javax.sql.DataSource;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** One lock of two parts is not two locks: it keeps out nobody who holds one of these. */
@Tag("server")
class PartsOfLocksTest {

    interface Till {
        void credit(int id, long amount);

        void transfer(int from, int to, long amount);

        void save(Account account);

        void saveAll(List<Account> accounts);
    }

    /** Reads, lets somebody else do what he does, and writes. */
    record Drawers(DataSource source, Runnable betweenReadAndWrite) implements Till {

        @Override
        public void credit(int id, long amount) {
            try (Connection connection = source.getConnection()) {
                write(connection, id, read(connection, id) + amount);
            } catch (SQLException e) {
                throw new IllegalStateException(e);
            }
        }

        @Override
        public void transfer(int from, int to, long amount) {
            try (Connection connection = source.getConnection()) {
                long left = read(connection, from) - amount;
                long more = read(connection, to) + amount;
                betweenReadAndWrite.run();
                write(connection, from, left);
                write(connection, to, more);
            } catch (SQLException e) {
                throw new IllegalStateException(e);
            }
        }

        @Override
        public void save(Account account) {
            throw new AssertionError("called");
        }

        @Override
        public void saveAll(List<Account> accounts) {
            throw new AssertionError("called");
        }

        private static long read(Connection connection, int id) throws SQLException {
            try (Statement statement = connection.createStatement();
                    ResultSet row = statement.executeQuery("SELECT balance FROM account WHERE id = " + id)) {
                row.next();
                return row.getLong(1);
            }
        }

        private static void write(Connection connection, int id, long balance) throws SQLException {
            try (Statement statement = connection.createStatement()) {
                statement.execute("UPDATE account SET balance = " + balance + " WHERE id = " + id);
            }
        }
    }

    static Bank bank;
    static PostgresFence fence;

    private Runnable meanwhile = () -> {};

    @BeforeAll
    static void create() {
        bank = Bank.create();
        fence = PostgresFence.on(bank.source()).listener(FencelineListener.none());
    }

    @AfterAll
    static void close() {
        bank.locks().close();
    }

    @BeforeEach
    void open() {
        bank.open();
    }

    private RepositoryBuilder<Till> till() {
        return FencedRepository.of(Till.class, fence, bank.locks())
                .delegate(new Drawers(fence.dataSource(), () -> meanwhile.run()))
                .lockBy("save*", arguments -> LockName.of("accounts"))
                .selfContained("credit", "transfer");
    }

    /** Credits 5 to account 41 on a thread of its own, in the middle of a transfer from it. */
    private void creditMeanwhile(Till till) {
        meanwhile = () -> {
            Thread other = new Thread(() -> till.credit(41, 5), "creditor");
            other.setUncaughtExceptionHandler((thread, refused) -> {});
            other.start();
            try {
                other.join();
            } catch (InterruptedException e) {
                throw new IllegalStateException(e);
            }
        };
    }

    @Test
    void oneLockOfTwoPartsLosesACredit() throws Exception {
        Till naive = till().lock("account", "id")
                .lockBy("transfer", both -> LockName.of("account", both.get(0), both.get(1)))
                .build()
                .proxy();
        creditMeanwhile(naive);

        naive.transfer(41, 42, 10);

        assertThat(bank.balance(41)).as("the credit of 5 is lost").isEqualTo(90);
    }

    @Test
    void twoLocksKeepTheCreditOutUntilTheTransferIsDone() throws Exception {
        Till chained = till().lock("account", "id")
                .lock("account", "from")
                .lock("account", "to")
                .waitAtMost(java.time.Duration.ZERO)
                .build()
                .proxy();
        creditMeanwhile(chained);

        chained.transfer(41, 42, 10);
        assertThat(bank.balance(41)).as("the credit was refused").isEqualTo(90);
        chained.credit(41, 5);
        assertThat(bank.balance(41)).isEqualTo(95);
    }

    @Test
    void oneClassWithDifferentNumbersOfPartsIsRefusedWhenTheRepositoryIsBuilt() {
        assertThatThrownBy(() -> till().lock("account", "id")
                        .lock("account", "from", "to")
                        .build())
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage(
                        "FencedRepository of Till cannot be built:\n- lock(\"account\", \"id\") and lock(\"account\", \"from\","
                                + " \"to\") name locks of one class with 1 and with 2 parts, and account:1:2 keeps out nobody who holds"
                                + " account:1. For several locks of a call chain them: .lock(\"account\", \"from\").lock(\"account\","
                                + " \"to\"); for one key of several parts take a class of its own");
        assertThatThrownBy(() -> till().lock("account", "id", "amount")
                        .lock("account", "from", "to", "amount")
                        .build())
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining(
                        "with 2 and with 3 parts, and account:1:2:3 keeps out nobody who holds account:1:2.");
    }

    @Test
    void aFunctionThatNamesAnotherNumberOfPartsIsRefusedWhenItIsCalled() {
        Till till = FencedRepository.of(Till.class, fence, bank.locks())
                .delegate(new Drawers(fence.dataSource(), () -> {}))
                .lock("account", "from", "to")
                .lock(Account.class, account -> LockName.of("account", account.id()))
                .lockEach(Account.class, account -> LockName.of("account", account.id()))
                .lockBy("credit", arguments -> LockName.of("account", arguments.get(0)))
                .selfContained("credit", "transfer", "save*")
                .build()
                .proxy();

        assertThatThrownBy(() -> till.save(new Account(41, 0)))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage(
                        "Lock 'account:41' of lock(Account.class, …) refused: lock(\"account\", \"from\", \"to\") names locks of"
                                + " one class with 2 parts, this one has 1, and the one keeps out nobody who holds the other. Nothing was"
                                + " called. For several locks of a call chain them: .lock(\"account\", \"from\").lock(\"account\", \"to\");"
                                + " for one key of several parts take a class of its own.");
        assertThatThrownBy(() -> till.saveAll(List.of(new Account(41, 0))))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageStartingWith("Lock 'account:41' of lockEach(Account.class, …) refused");
    }
}
