package dev.fenceline.jdbc.repository;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import javax.sql.DataSource;

/** Over a data source, with a connection and a transaction for each call. */
final class JdbcAccounts implements Accounts {

    private interface Sql<T> {
        T on(Connection connection) throws SQLException, Overdrawn;
    }

    private final DataSource source;

    JdbcAccounts(DataSource source) {
        this.source = source;
    }

    @Override
    public Account find(int id) {
        return quietly(connection -> read(connection, id));
    }

    @Override
    public List<Account> findAll() {
        return quietly(connection -> {
            try (PreparedStatement query = connection.prepareStatement("SELECT id, balance FROM account ORDER BY id");
                    ResultSet rows = query.executeQuery()) {
                List<Account> all = new ArrayList<>();
                while (rows.next()) {
                    all.add(new Account(rows.getInt(1), rows.getLong(2)));
                }
                return all;
            }
        });
    }

    @Override
    public Account save(Account account) {
        save(account.id(), account.balance());
        return account;
    }

    @Override
    public void save(int id, long balance) {
        quietly(connection -> write(connection, id, balance));
    }

    @Override
    public void saveAll(List<? extends Account> accounts) {
        accounts.forEach(this::save);
    }

    @Override
    public void setAll(long balance, Account... accounts) {
        for (Account account : accounts) {
            save(account.id(), balance);
        }
    }

    @Override
    public void deleteById(Integer id) {
        save(id, 0);
    }

    @Override
    public long withdraw(int id, long amount) throws Overdrawn {
        return inTransaction(connection -> {
            Account account = read(connection, id);
            if (account.balance() < amount) {
                throw new Overdrawn(account.balance());
            }
            write(connection, id, account.balance() - amount);
            return account.balance() - amount;
        });
    }

    @Override
    public void close(int id) {
        this.save(this.find(id).plus(-this.find(id).balance()));
    }

    @Override
    public void block(int id) {
        save(id, -1);
    }

    @Override
    public void transfer(int from, int to, long amount) throws Overdrawn {
        inTransaction(connection -> {
            write(connection, from, read(connection, from).balance() - amount);
            return write(connection, to, read(connection, to).balance() + amount);
        });
    }

    @Override
    public void fail(int id, Throwable thrown) throws Exception {
        try (Connection connection = source.getConnection()) {
            connection.setAutoCommit(false);
            write(connection, id, 0);
            connection.rollback();
        }
        throw Thrown.unchanged(thrown);
    }

    private <T> T inTransaction(Sql<T> work) throws Overdrawn {
        return run(connection -> {
            connection.setAutoCommit(false);
            try {
                T result = work.on(connection);
                connection.commit();
                return result;
            } catch (SQLException | Overdrawn | RuntimeException e) {
                connection.rollback();
                throw e;
            } finally {
                connection.setAutoCommit(true);
            }
        });
    }

    private <T> T quietly(Sql<T> work) {
        try {
            return run(work);
        } catch (Overdrawn e) {
            throw new IllegalStateException(e);
        }
    }

    private <T> T run(Sql<T> work) throws Overdrawn {
        try (Connection connection = source.getConnection()) {
            return work.on(connection);
        } catch (SQLException e) {
            throw new IllegalStateException(e);
        }
    }

    private static Account read(Connection connection, int id) throws SQLException {
        try (PreparedStatement query = connection.prepareStatement("SELECT balance FROM account WHERE id = ?")) {
            query.setInt(1, id);
            try (ResultSet row = query.executeQuery()) {
                row.next();
                return new Account(id, row.getLong(1));
            }
        }
    }

    private static int write(Connection connection, int id, long balance) throws SQLException {
        try (PreparedStatement update = connection.prepareStatement("UPDATE account SET balance = ? WHERE id = ?")) {
            update.setLong(1, balance);
            update.setInt(2, id);
            return update.executeUpdate();
        }
    }
}
