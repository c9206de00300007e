package dev.fenceline.jdbc;

import dev.fenceline.LockName;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * Describes a table whose rows carry their own mark, so that one statement both checks the fence and writes. Holds no connection;
 * make one per table and keep it as a constant.
 *
 * <pre>{@code
 * FencedTable<Long> accounts =
 *     FencedTable.of("bank", "account").key("id", id -> LockName.of("account", id));
 * }</pre>
 *
 * <p>The table has a unique index on exactly the key's columns, and two columns more:
 *
 * <pre>{@code
 * ALTER TABLE bank.account ADD COLUMN fence_token bigint NOT NULL DEFAULT 0;
 * ALTER TABLE bank.account ADD COLUMN fence_holder uuid;
 * }</pre>
 *
 * <p>All names are given as PostgreSQL shows them, and are quoted here: {@code "Order"} and {@code "order"} are two tables.
 *
 * <p><b>Thread-safety:</b> immutable.
 *
 * @param <K> the key of a row, for instance {@code Long}, {@code UUID}, {@code String} or a record of several parts
 */
public final class FencedTable<K> {

    static final String TOKEN = "fence_token";
    static final String HOLDER = "fence_holder";

    private final List<String> path;
    private final String name;
    private final List<String> keyColumns;
    private final Function<? super K, ? extends List<?>> parts;
    private final Function<? super K, LockName> lock;

    private FencedTable(
            List<String> path,
            List<String> keyColumns,
            Function<? super K, ? extends List<?>> parts,
            Function<? super K, LockName> lock) {
        this.path = path;
        this.name = path.stream().map(FencedTable::quoted).collect(Collectors.joining("."));
        this.keyColumns = List.copyOf(keyColumns);
        this.parts = Objects.requireNonNull(parts, "parts");
        this.lock = Objects.requireNonNull(lock, "lock");
        if (keyColumns.isEmpty() || new HashSet<>(keyColumns).size() < keyColumns.size()) {
            throw new IllegalArgumentException("The key of " + name + " has the columns " + keyColumns
                    + "; it needs at least one, and each once.");
        }
        for (String column : keyColumns) {
            quoted(column);
            if (column.equals(TOKEN) || column.equals(HOLDER)) {
                throw new IllegalArgumentException(
                        "Column " + column + " of " + name + " holds the mark, and cannot be a part of the key.");
            }
        }
    }

    /**
     * Names a table that is found by the connection's search_path.
     *
     * @param table its name, unquoted
     * @return what still lacks its key
     */
    public static Unkeyed of(String table) {
        return new Unkeyed(List.of(table));
    }

    /**
     * Names a table.
     *
     * @param schema its schema, unquoted
     * @param table its name, unquoted
     * @return what still lacks its key
     */
    public static Unkeyed of(String schema, String table) {
        return new Unkeyed(List.of(schema, table));
    }

    /** A table that still lacks its key. */
    public static final class Unkeyed {

        private final List<String> path;

        private Unkeyed(List<String> path) {
            path.forEach(FencedTable::quoted);
            this.path = path;
        }

        /**
         * Says which column is the key, and which lock protects a row: the one under which everybody else locks this row. Keys that are
         * equal to the database must give one name: bring them to one form where case or trailing blanks do not count there.
         *
         * <p>As a rule the name differs from row to row: one row, one lock. Several rows may share one, an order and its lines for
         * instance. Then each still has a mark of its own, so a claim of one row keeps nobody from writing the others: claim every row
         * that the work reads or writes, before the first value is used. While one of these rows is not there, the mark of their
         * common lock rules it, which may refuse more than is necessary and never admits more. For rows whose sum or number matters,
         * {@link PostgresFence} is simpler.
         *
         * @param column the key's column, unquoted; its values are what JDBC binds, for instance {@code Long}, {@code UUID}, {@code
         *     String}
         * @param lock names the lock of a row from its key
         * @param <K> the key
         * @return the table
         */
        public <K> FencedTable<K> key(String column, Function<? super K, LockName> lock) {
            return new FencedTable<>(path, List.of(column), List::of, lock);
        }

        /**
         * Says which columns make up the key; else as {@link #key(String, Function)}.
         *
         * @param columns the key's columns, unquoted
         * @param parts takes a key apart, one value for each column, in their order
         * @param lock names the lock of a row from its key
         * @param <K> the key
         * @return the table
         */
        public <K> FencedTable<K> key(
                List<String> columns,
                Function<? super K, ? extends List<?>> parts,
                Function<? super K, LockName> lock) {
            return new FencedTable<>(path, columns, parts, lock);
        }
    }

    /**
     * Names the lock of a row: what to acquire before the row is claimed.
     *
     * @param key the row's key
     * @return the lock
     */
    public LockName lock(K key) {
        LockName named = lock.apply(Objects.requireNonNull(key, "key"));
        if (named == null) {
            throw new IllegalArgumentException(
                    "Key " + key + " of " + name + " was given no lock; name one for each key, the same at each call.");
        }
        return named;
    }

    /** Returns the quoted name. */
    @Override
    public String toString() {
        return name;
    }

    /** Returns every name that is in the text of statements. */
    Stream<String> names() {
        return Stream.concat(path.stream(), keyColumns.stream());
    }

    List<String> keyColumns() {
        return keyColumns;
    }

    List<Object> parts(K key) {
        List<?> values = parts.apply(key);
        if (values == null || values.size() != keyColumns.size()) {
            throw new IllegalArgumentException("Key " + key + " of " + name + " was taken apart into "
                    + (values == null ? "no" : values.size()) + " values, for the columns " + keyColumns + ".");
        }
        List<Object> checked = new ArrayList<>();
        for (int i = 0; i < values.size(); i++) {
            Object value = values.get(i);
            if (value == null) {
                throw new IllegalArgumentException("Key " + key + " of " + name + " has no value for column "
                        + keyColumns.get(i) + "; a row without a key cannot be found again.");
            }
            checked.add(value);
        }
        return List.copyOf(checked);
    }

    /** Quotes a name as PostgreSQL does. */
    static String quoted(String identifier) {
        if (identifier.isEmpty() || identifier.indexOf('\0') >= 0) {
            throw new IllegalArgumentException("The name of a schema, table or column is empty or holds a NUL.");
        }
        return '"' + identifier.replace("\"", "\"\"") + '"';
    }
}
