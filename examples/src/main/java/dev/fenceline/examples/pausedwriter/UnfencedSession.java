package dev.fenceline.examples.pausedwriter;

import dev.fenceline.FencedLease;
import java.sql.Connection;
import java.sql.SQLException;
import javax.sql.DataSource;

/** The two controls: reads, computes, writes in a transaction. Whether the UPDATE compares tokens is up to the job's mode. */
final class UnfencedSession implements Session {

    private final DataSource database;
    private final Books books;

    UnfencedSession(DataSource database, Books books) {
        this.database = database;
        this.books = books;
    }

    @Override
    public Written book(FencedLease lease, Job job, Barrier barrier) throws SQLException {
        long token = lease.token().value();
        AccountState state;
        try (Connection connection = database.getConnection()) {
            state = books.read(connection, job.account());
        }
        barrier.reached(token, state);
        try (Connection connection = database.getConnection()) {
            connection.setAutoCommit(false);
            try {
                Written written = books.write(connection, job, token, state);
                connection.commit();
                return written;
            } catch (SQLException | RuntimeException e) {
                connection.rollback();
                throw e;
            }
        }
    }
}
