package dev.fenceline.verification.frameworks;

import java.util.function.Supplier;

/** Whatever an application reads and writes its accounts through: built once, on one data source, and used by all threads. */
interface Framework {

    /** Runs work in a transaction of the framework, which commits it. */
    <T> T transaction(Supplier<T> work);

    /** Likewise without a result. */
    default void transaction(Runnable work) {
        this.<Boolean>transaction(() -> {
            work.run();
            return true;
        });
    }

    /** Reads in the transaction of this thread, or without one. */
    long read(int account);

    /** Writes in the transaction of this thread. */
    void write(int account, long balance);

    /** Sends a statement that fails. */
    void fail();

    /** Gives back what it was built of. */
    void close();
}
