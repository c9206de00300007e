package dev.fenceline.jdbc;

/** What a fenced transaction sees of others, as PostgreSQL defines it. */
public enum Isolation {
    /**
     * Each statement sees what was committed before it began. Behind another transaction of the same claim, a transaction waits and
     * then sees what that one wrote.
     */
    READ_COMMITTED("READ COMMITTED"),

    /**
     * The whole transaction sees what was committed when it entered. Behind another transaction of the same claim it fails with
     * {@link dev.fenceline.RetryableConflictException}, since its view would be older than what that one wrote.
     */
    REPEATABLE_READ("REPEATABLE READ"),

    /** As {@link #REPEATABLE_READ}, and also safe against writers of other rows that it has read, under other locks too. */
    SERIALIZABLE("SERIALIZABLE");

    private final String sql;

    Isolation(String sql) {
        this.sql = sql;
    }

    String sql() {
        return sql;
    }
}
