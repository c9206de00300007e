package dev.fenceline.bench;

import org.jdbi.v3.core.Handle;

/** Over a handle. */
record JdbiBalances(Handle handle) implements Balances {

    @Override
    public long find(long id) {
        return handle.select("SELECT balance FROM balance WHERE id = ?", id)
                .mapTo(Long.class)
                .one();
    }

    @Override
    public void save(long id, long balance) {
        int unused = handle.execute("UPDATE balance SET balance = ? WHERE id = ?", balance, id);
    }

    @Override
    public void add(long id, long amount) {
        handle.useTransaction(transaction -> save(id, find(id) + amount));
    }
}
