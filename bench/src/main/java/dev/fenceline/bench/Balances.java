package dev.fenceline.bench;

/** A repository as it was before anybody thought of locks. */
interface Balances {

    long find(long id);

    void save(long id, long balance);

    /** Reads and writes in a transaction of its own. */
    void add(long id, long amount);
}
