package dev.fenceline.jdbc;

import java.sql.Connection;
import java.sql.SQLException;

/** A small unit of work, with the driver's exception unchecked. */
final class JdbcWork {

    private JdbcWork() {}

    static void add(Claim<Connection> claim, int id, long amount) {
        try {
            claim.useTransaction(c -> TestDatabase.write(c, id, TestDatabase.read(c, id) + amount));
        } catch (SQLException e) {
            throw new IllegalStateException(e);
        }
    }
}
