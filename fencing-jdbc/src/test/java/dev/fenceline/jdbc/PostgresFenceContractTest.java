package dev.fenceline.jdbc;

import dev.fenceline.FencingToken;
import dev.fenceline.LockName;
import dev.fenceline.testkit.FenceContract;
import dev.fenceline.testkit.FenceDriver;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;

@Tag("server")
class PostgresFenceContractTest extends FenceContract {

    static TestDatabase database;

    @BeforeAll
    static void create() {
        database = TestDatabase.create();
        database.execute("CREATE TABLE thing (lock text PRIMARY KEY, value text NOT NULL)");
    }

    @Override
    protected FenceDriver resource(LockName lock, String value) {
        database.execute("INSERT INTO thing VALUES ('" + lock + "', '" + value + "')");
        PostgresFence fence = PostgresFence.on(database.source());
        return new FenceDriver() {
            @Override
            public Session claim(FencingToken token) {
                return session(fence.claim(token));
            }

            @Override
            public Session resume(FencingToken token) {
                return session(fence.resume(token));
            }

            @Override
            public String read() {
                return database.text("SELECT value FROM thing WHERE lock = '" + lock + "'");
            }
        };
    }

    private static FenceDriver.Session session(Claim<Connection> claim) {
        String lock = claim.token().lock().toString();
        return new FenceDriver.Session() {
            @Override
            public String read() {
                return run(claim, c -> {
                    try (PreparedStatement select = c.prepareStatement("SELECT value FROM thing WHERE lock = ?")) {
                        select.setString(1, lock);
                        try (ResultSet row = select.executeQuery()) {
                            row.next();
                            return row.getString(1);
                        }
                    }
                });
            }

            @Override
            public void write(String value) {
                run(claim, c -> {
                    try (PreparedStatement update = c.prepareStatement("UPDATE thing SET value = ? WHERE lock = ?")) {
                        update.setString(1, value);
                        update.setString(2, lock);
                        return update.executeUpdate();
                    }
                });
            }
        };
    }

    private static <T> T run(Claim<Connection> claim, Work<Connection, T, SQLException> work) {
        try {
            return claim.inTransaction(work);
        } catch (SQLException e) {
            throw new IllegalStateException(e);
        }
    }
}
