package dev.fenceline.migrations;

/**
 * Takes the protection off a table: wholly, or for what arrives from a publisher.
 *
 * <p><b>Thread-safety:</b> immutable.
 *
 * @param table which table; a partitioned one with all its partitions
 * @param writers who may write without a lock from then on
 */
public record Unprotect(TableName table, Writers writers) implements Change {

    /** Who may write without a lock. */
    public enum Writers {
        /** Everybody: the triggers are dropped. */
        ALL,
        /**
         * The apply worker of a subscription, whose changes were checked where they were made. The triggers stay, and refuse or record
         * everybody else who writes here.
         */
        SUBSCRIPTION
    }

    /**
     * Names the table, for everybody.
     *
     * @param table as SQL writes it, see {@link TableName#parse}
     * @return the change
     */
    public static Unprotect table(String table) {
        return table(TableName.parse(table));
    }

    /**
     * Names the table, for everybody.
     *
     * @param table which
     * @return the change
     */
    public static Unprotect table(TableName table) {
        return new Unprotect(table, Writers.ALL);
    }

    /**
     * Leaves the protection in place for all but the apply worker: for a subscriber of logical replication, where changes arrive without
     * entering, and would be refused or recorded. After a switch-over {@link Protect} again.
     *
     * @return another change
     */
    public Unprotect onSubscriber() {
        return new Unprotect(table, Writers.SUBSCRIPTION);
    }
}
