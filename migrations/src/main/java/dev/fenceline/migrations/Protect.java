package dev.fenceline.migrations;

import dev.fenceline.LockName;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * Has the database itself refuse, or at first record, whoever writes a row without having entered the row's lock.
 *
 * <pre>{@code
 * Protect.table("app.order").lock("order", "id").observe()          // locks order:1, order:2, …
 * Protect.table("app.order_line").lock("order", "order_id").observe() // under the same locks
 * Protect.table("app.settings").lock("settings").enforce()          // one lock for all rows
 * }</pre>
 *
 * <p><b>Thread-safety:</b> immutable.
 *
 * @param table which table; a partitioned one is protected with all its partitions
 * @param lockClass the class of the locks, as in {@link LockName#of(String, Object...)}
 * @param key the columns whose values are the parts of the lock's name, unquoted and in their order; none for one lock for all rows
 * @param mode what happens to whoever has not entered
 */
public record Protect(TableName table, String lockClass, List<String> key, Mode mode) implements Change {

    /** What happens to a writer that has not entered the lock of the row. */
    public enum Mode {
        /** He passes, and is recorded in {@code fenceline.violation}: once for each transaction and table. */
        OBSERVE,
        /** He is refused. */
        ENFORCE;

        /** As the database spells it. */
        String text() {
            return name().toLowerCase(Locale.ROOT);
        }

        static Optional<Mode> of(String text) {
            return Stream.of(values()).filter(mode -> mode.text().equals(text)).findFirst();
        }
    }

    /**
     * Checks the class and the key.
     *
     * @throws IllegalArgumentException when the class is none, or a column is named twice
     */
    public Protect {
        LockName.of(lockClass);
        key = List.copyOf(key);
        key.forEach(column -> Identifiers.checked(column, "Column"));
        if (new HashSet<>(key).size() < key.size()) {
            throw new IllegalArgumentException(
                    "The key of " + table + " has the columns " + key + "; each is named once.");
        }
    }

    /**
     * Names the table.
     *
     * @param table as SQL writes it, see {@link TableName#parse}
     * @return what still lacks its lock
     */
    public static Table table(String table) {
        return table(TableName.parse(table));
    }

    /**
     * Names the table.
     *
     * @param table which
     * @return what still lacks its lock
     */
    public static Table table(TableName table) {
        return new Table(table);
    }

    /**
     * A table that still lacks its lock.
     *
     * @param table which
     */
    public record Table(TableName table) {

        /**
         * Says which lock a row needs.
         *
         * @param lockClass the class of the locks, {@code order} of {@code order:42}
         * @param key the columns that make up the rest of the name, as SQL writes them and in the order of the parts; not
         *     necessarily the primary key. None: the class itself is the one lock for all rows
         * @return what still lacks its mode
         */
        public Locked lock(String lockClass, String... key) {
            return new Locked(
                    table, lockClass, Stream.of(key).map(Protect::column).toList());
        }
    }

    /**
     * A table and its lock, which still lack the mode.
     *
     * @param table which table
     * @param lockClass the class of the locks
     * @param key the columns, unquoted
     */
    public record Locked(TableName table, String lockClass, List<String> key) {

        /** Keeps a copy. */
        public Locked {
            key = List.copyOf(key);
        }

        /**
         * Lets everybody pass, and records who has not entered: how to begin, and the instant way back.
         *
         * @return the change
         */
        public Protect observe() {
            return new Protect(table, lockClass, key, Mode.OBSERVE);
        }

        /**
         * Refuses whoever has not entered.
         *
         * @return the change
         */
        public Protect enforce() {
            return new Protect(table, lockClass, key, Mode.ENFORCE);
        }
    }

    static boolean isLockClass(String text) {
        try {
            LockName.of(text);
            return true;
        } catch (IllegalArgumentException e) {
            return false;
        }
    }

    /** Names the locks for people: {@code order:<id>}. */
    String locks() {
        return lockClass
                + key.stream()
                        .map(column -> ":<" + Identifiers.oneLine(column) + '>')
                        .collect(Collectors.joining());
    }

    private static String column(String text) {
        List<String> parts = Identifiers.parse(text, "Column");
        if (parts.size() > 1) {
            throw new IllegalArgumentException("Column '" + Identifiers.oneLine(text)
                    + "' has a dot. Name the column alone; a dot within its name is written in double quotes.");
        }
        return parts.get(0);
    }
}
