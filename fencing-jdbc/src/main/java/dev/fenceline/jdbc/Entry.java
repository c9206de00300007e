package dev.fenceline.jdbc;

/** How a transaction enters. */
enum Entry {
    /** Keeps every other transaction of the same claim out, too. */
    ALONE("enter_v2"),
    /** Beside others of the same claim. */
    CONCURRENT("enter_concurrent_v1"),
    /** Locks nothing, and can write nothing. */
    READING("enter_reading_v1");

    private final String function;

    Entry(String function) {
        this.function = function;
    }

    String function() {
        return function;
    }
}
