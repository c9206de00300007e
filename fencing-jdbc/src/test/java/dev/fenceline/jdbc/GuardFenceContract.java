package dev.fenceline.jdbc;

import dev.fenceline.FencingToken;
import dev.fenceline.LockName;
import dev.fenceline.testkit.FenceContract;
import dev.fenceline.testkit.FenceDriver;
import org.junit.jupiter.api.BeforeAll;

/** The contract of all fences, for the engine that JDBC and Jdbi share; each only says how it reads and writes. */
abstract class GuardFenceContract<C> extends FenceContract {

    static TestDatabase database;

    @BeforeAll
    static void create() {
        database = TestDatabase.create();
        database.execute("CREATE TABLE thing (lock text PRIMARY KEY, value text NOT NULL)");
    }

    abstract GuardFence<C> fence();

    abstract String read(Claim<C> claim, String lock);

    abstract void write(Claim<C> claim, String lock, String value);

    @Override
    protected FenceDriver resource(LockName lock, String value) {
        database.execute("INSERT INTO thing VALUES ('" + lock + "', '" + value + "')");
        GuardFence<C> fence = fence();
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

    private FenceDriver.Session session(Claim<C> claim) {
        String lock = claim.token().lock().toString();
        return new FenceDriver.Session() {
            @Override
            public String read() {
                return GuardFenceContract.this.read(claim, lock);
            }

            @Override
            public void write(String value) {
                GuardFenceContract.this.write(claim, lock, value);
            }
        };
    }
}
