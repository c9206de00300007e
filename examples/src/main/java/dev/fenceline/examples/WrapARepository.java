package dev.fenceline.examples;

import static dev.fenceline.examples.AccountTable.balanceOf;
import static dev.fenceline.examples.AccountTable.setBalance;

import dev.fenceline.LockName;
import dev.fenceline.Locks;
import dev.fenceline.jdbc.PostgresFence;
import dev.fenceline.jdbc.repository.FencedRepository;
import dev.fenceline.lock.RedisLocks;
import dev.fenceline.migrations.FenceMigrations;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;
import javax.sql.DataSource;

/** Puts a repository that was written without locks under the fence, without changing a line of it. */
public final class WrapARepository {

    /**
     * An account.
     *
     * @param id its key
     * @param cents its balance
     */
    public record Account(long id, long cents) {

        Account plus(long more) {
            return new Account(id, cents + more);
        }
    }

    /** The repository, as it was before anybody thought of locks. */
    public interface Accounts {

        /**
         * Reads an account.
         *
         * @param id its key
         * @return the account
         */
        Account findById(long id);

        /**
         * Writes an account.
         *
         * @param account with what it has now
         */
        void save(Account account);

        /**
         * Takes money from an account.
         *
         * @param id its key
         * @param cents how much
         */
        void withdraw(long id, long cents);

        /**
         * Moves money from one account to another.
         *
         * @param from the key of the one
         * @param to the key of the other
         * @param cents how much
         */
        void transfer(long from, long to, long cents);

        /**
         * Writes accounts.
         *
         * @param accounts with what they have now
         */
        void saveAll(List<Account> accounts);
    }

    private WrapARepository() {}

    /**
     * Takes 12.50 € from account 42, moves 5 € to another, and gives 5 € to it.
     *
     * @param args the URI of Redis and the JDBC URL of PostgreSQL
     * @throws Exception when the lock or the database cannot be had
     */
    public static void main(String[] args) throws Exception {
        DataSource dataSource = AccountTable.database(args[1]);
        FenceMigrations.on(dataSource).install();
        AccountTable.create(dataSource);
        try (Locks locks = RedisLocks.connect(args[0])) {
            System.out.println(
                    "account: " + book(wrapped(locks, dataSource)).proxy().findById(42));
        }
    }

    static FencedRepository<Accounts> wrapped(Locks locks, DataSource dataSource) {
        // snippet: wrap-a-repository
        PostgresFence fence = PostgresFence.on(dataSource);
        FencedRepository<Accounts> accounts = FencedRepository.of(Accounts.class, fence, locks)
                .delegate(new LegacyAccounts(fence.dataSource())) // as it is
                .lock("account", "id") // found in the argument named id: compile with -parameters
                .lock("account", "from")
                .lock("account", "to") // a transfer has two locks: chained, not one of two parts
                .lock(Account.class, account -> LockName.of("account", account.id()))
                .lockEach(Account.class, account -> LockName.of("account", account.id())) // of a list
                .reads("find*")
                .selfContained("withdraw", "transfer") // everything else needs a unit
                .build();
        // end snippet
        return accounts;
    }

    static FencedRepository<Accounts> book(FencedRepository<Accounts> accounts) throws InterruptedException {
        // snippet: units-of-a-repository
        accounts.proxy().withdraw(42, 1_250); // reads, computes and writes by itself: one call, one unit
        accounts.proxy().transfer(42, 43, 500); // likewise, under both locks
        // From the read to the write that is based on it:
        accounts.unit(LockName.of("account", 42), a -> {
            Account account = a.findById(42);
            a.save(account.plus(500));
        });
        // end snippet
        return accounts;
    }

    /** Takes a connection for each call, and knows of no fence. */
    private record LegacyAccounts(DataSource dataSource) implements Accounts {

        @Override
        public Account findById(long id) {
            try (Connection connection = dataSource.getConnection()) {
                return new Account(id, balanceOf(connection, id));
            } catch (SQLException e) {
                throw new IllegalStateException(e);
            }
        }

        @Override
        public void save(Account account) {
            try (Connection connection = dataSource.getConnection()) {
                setBalance(connection, account.id(), account.cents());
            } catch (SQLException e) {
                throw new IllegalStateException(e);
            }
        }

        @Override
        public void withdraw(long id, long cents) {
            try (Connection connection = dataSource.getConnection()) {
                connection.setAutoCommit(false);
                setBalance(connection, id, balanceOf(connection, id) - cents);
                connection.commit();
            } catch (SQLException e) {
                throw new IllegalStateException(e);
            }
        }

        @Override
        public void transfer(long from, long to, long cents) {
            try (Connection connection = dataSource.getConnection()) {
                connection.setAutoCommit(false);
                setBalance(connection, from, balanceOf(connection, from) - cents);
                setBalance(connection, to, balanceOf(connection, to) + cents);
                connection.commit();
            } catch (SQLException e) {
                throw new IllegalStateException(e);
            }
        }

        @Override
        public void saveAll(List<Account> accounts) {
            accounts.forEach(this::save);
        }
    }
}
