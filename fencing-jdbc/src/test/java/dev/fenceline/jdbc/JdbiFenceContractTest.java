package dev.fenceline.jdbc;

import org.jdbi.v3.core.Handle;
import org.jdbi.v3.core.Jdbi;
import org.junit.jupiter.api.Tag;

@Tag("server")
class JdbiFenceContractTest extends GuardFenceContract<Handle> {

    @Override
    GuardFence<Handle> fence() {
        return JdbiFence.on(Jdbi.create(database.source()));
    }

    @Override
    String read(Claim<Handle> claim, String lock) {
        return claim.inTransaction(handle -> handle.select("SELECT value FROM thing WHERE lock = ?", lock)
                .mapTo(String.class)
                .one());
    }

    @Override
    void write(Claim<Handle> claim, String lock, String value) {
        claim.useTransaction(handle -> handle.execute("UPDATE thing SET value = ? WHERE lock = ?", value, lock));
    }
}
