package dev.fenceline.jdbc;

import dev.fenceline.FencingToken;
import dev.fenceline.LockName;
import dev.fenceline.testkit.FenceContract;
import dev.fenceline.testkit.FenceDriver;
import org.jdbi.v3.core.Handle;
import org.jdbi.v3.core.Jdbi;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;

@Tag("server")
class JdbiFenceContractTest extends FenceContract {

    static TestDatabase database;

    @BeforeAll
    static void create() {
        database = TestDatabase.create();
        database.execute("CREATE TABLE thing (lock text PRIMARY KEY, value text NOT NULL)");
    }

    @Override
    protected FenceDriver resource(LockName lock, String value) {
        database.execute("INSERT INTO thing VALUES ('" + lock + "', '" + value + "')");
        JdbiFence fence = JdbiFence.on(Jdbi.create(database.source()));
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

    private static FenceDriver.Session session(Claim<Handle> claim) {
        String lock = claim.token().lock().toString();
        return new FenceDriver.Session() {
            @Override
            public String read() {
                return claim.inTransaction(handle -> handle.select("SELECT value FROM thing WHERE lock = ?", lock)
                        .mapTo(String.class)
                        .one());
            }

            @Override
            public void write(String value) {
                claim.useTransaction(
                        handle -> handle.execute("UPDATE thing SET value = ? WHERE lock = ?", value, lock));
            }
        };
    }
}
