package dev.fenceline.bench;

/** One way to write, ready to be repeated on one connection pool by one thread at a time. */
@FunctionalInterface
interface Write {

    /** Writes a value and commits it. */
    void run(long value) throws Exception;
}
