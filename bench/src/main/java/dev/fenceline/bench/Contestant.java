package dev.fenceline.bench;

/**
 * One way to lock, over one client of its own that all threads of this process share. Used by one scenario at a time.
 *
 * <p>What a caller would do once for each name, such as asking a library for its lock object, is done in {@link #lock}; what
 * it would do for each use is done in {@link Mutex#enter}.
 */
interface Contestant extends AutoCloseable {

    /** How it reads in a table. */
    Entrant entrant();

    @Override
    void close();

    /** The lock of a name. */
    Mutex lock(String name);

    /** Takes and gives back one lock. */
    @FunctionalInterface
    interface Mutex {

        /** Waits where the entrant can wait, and fails where it cannot and the lock is held. */
        Turn enter() throws Exception;
    }

    /** One hold. */
    @FunctionalInterface
    interface Turn {

        /** Returns when the server has acknowledged it. On the thread that entered, since some libraries ask for that. */
        void leave() throws Exception;
    }
}
