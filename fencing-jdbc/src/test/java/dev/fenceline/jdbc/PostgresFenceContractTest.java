package dev.fenceline.jdbc;

import dev.fenceline.Work;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import org.junit.jupiter.api.Tag;

@Tag("server")
class PostgresFenceContractTest extends GuardFenceContract<Connection> {

    @Override
    GuardFence<Connection> fence() {
        return PostgresFence.on(database.source());
    }

    @Override
    String read(Claim<Connection> claim, String lock) {
        return run(claim, connection -> {
            try (PreparedStatement select = connection.prepareStatement("SELECT value FROM thing WHERE lock = ?")) {
                select.setString(1, lock);
                try (ResultSet row = select.executeQuery()) {
                    row.next();
                    return row.getString(1);
                }
            }
        });
    }

    @Override
    void write(Claim<Connection> claim, String lock, String value) {
        run(claim, connection -> {
            try (PreparedStatement update = connection.prepareStatement("UPDATE thing SET value = ? WHERE lock = ?")) {
                update.setString(1, value);
                update.setString(2, lock);
                return update.executeUpdate();
            }
        });
    }

    private static <T> T run(Claim<Connection> claim, Work<Connection, T, SQLException> work) {
        try {
            return claim.inTransaction(work);
        } catch (SQLException e) {
            throw new IllegalStateException(e);
        }
    }
}
