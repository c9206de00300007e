package dev.fenceline.examples.pausedwriter;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.List;

/** The SQL of the ledger: plain JDBC on a connection that somebody else begins and commits. */
final class Books {

    private static final String READ = Resources.sql("read.sql");
    private static final String BOOK = Resources.sql("book.sql");
    private static final String HISTORY = Resources.sql("history.sql");

    private final String writer;

    Books(String writer) {
        this.writer = writer;
    }

    AccountState read(Connection connection, String account) throws SQLException {
        try (PreparedStatement read = connection.prepareStatement(READ)) {
            read.setString(1, account);
            try (ResultSet row = read.executeQuery()) {
                if (!row.next()) {
                    throw new IllegalStateException("Account " + account + " is missing from the database.");
                }
                return new AccountState(row.getLong(1), row.getLong(2), row.getLong(3));
            }
        }
    }

    /**
     * Books the movements, sets the balance computed from {@code base}, and writes the history. All on this connection; the
     * caller commits.
     *
     * @return what was written over what
     * @throws WriteRefused when the UPDATE matched no row; the caller rolls back
     */
    Written write(Connection connection, Job job, long token, AccountState base) throws SQLException {
        long change = book(connection, job);
        long balance = base.balanceCents() + change;
        BalanceUpdate update = BalanceUpdate.of(job, token, balance);
        long replaced;
        try (PreparedStatement statement = update.prepared(connection);
                ResultSet row = statement.executeQuery()) {
            if (!row.next()) {
                throw new WriteRefused(update.shown(), "0 rows: the row has seen a token higher than " + token, null);
            }
            replaced = row.getLong(1);
        }
        try (PreparedStatement history = connection.prepareStatement(HISTORY)) {
            history.setString(1, job.account());
            history.setString(2, job.scene().name());
            history.setString(3, writer);
            history.setLong(4, token);
            history.setLong(5, base.version());
            history.setLong(6, replaced);
            history.setLong(7, balance);
            history.setLong(8, change);
            history.executeUpdate();
        }
        return new Written(balance, base.version(), replaced);
    }

    private static long book(Connection connection, Job job) throws SQLException {
        List<Movement> movements = job.movements();
        try (PreparedStatement book = connection.prepareStatement(BOOK)) {
            book.setString(1, job.account());
            book.setArray(
                    2,
                    connection.createArrayOf(
                            "text", movements.stream().map(Movement::id).toArray()));
            book.setArray(
                    3,
                    connection.createArrayOf(
                            "bigint",
                            movements.stream().map(Movement::amountCents).toArray()));
            long change = 0;
            try (ResultSet booked = book.executeQuery()) {
                while (booked.next()) {
                    change += booked.getLong(1);
                }
            }
            return change;
        }
    }
}
