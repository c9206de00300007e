package dev.fenceline.jdbc;

import dev.fenceline.BackendMisconfiguredException;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * What the catalog says about a table in row mode, and about the database that it is in.
 *
 * @param columns by name
 * @param keyIndexes the unique indexes on exactly the key's columns, and their partitions
 * @param fsync the server's setting
 */
record TableShape(Map<String, Column> columns, Set<String> keyIndexes, String fsync) {

    /**
     * A column.
     *
     * @param type as SQL writes it
     * @param element as the driver names it, for arrays
     */
    record Column(String type, String element) {}

    // Invariant: one row at least, whatever is missing; and nothing is asked for that the role may not ask for.
    private static final String READ = """
            SELECT s.standby, s.fsync, s.fence, s.role, s.keys, a.attname, a.attnotnull, pg_catalog.format_type(a.atttypid, -1),
                   CASE WHEN t.typnamespace = 'pg_catalog'::pg_catalog.regnamespace THEN t.typname::text
                        ELSE pg_catalog.format_type(a.atttypid, -1) END
              FROM (SELECT pg_catalog.pg_is_in_recovery() AS standby,
                           pg_catalog.current_setting('fsync') AS fsync,
                           current_user::text AS role,
                           CASE WHEN pg_catalog.to_regnamespace('fenceline') IS NULL THEN 'none'
                                WHEN NOT pg_catalog.has_schema_privilege('fenceline', 'USAGE') THEN 'no right'
                                WHEN pg_catalog.to_regprocedure('fenceline.check_claim_v1(bigint, integer)') IS NULL THEN 'older'
                                WHEN NOT (pg_catalog.has_function_privilege('fenceline.check_claim_v1(bigint, integer)', 'EXECUTE')
                                          AND pg_catalog.has_table_privilege('fenceline.guard', 'SELECT')
                                          AND pg_catalog.has_table_privilege('fenceline.guard', 'INSERT')
                                          AND pg_catalog.has_table_privilege('fenceline.guard', 'UPDATE')) THEN 'no right'
                                ELSE 'ready' END AS fence,
                           n.rel,
                           ARRAY(SELECT c.relname::text
                                   FROM pg_catalog.pg_index i
                                  CROSS JOIN LATERAL (SELECT i.indexrelid AS id
                                                       UNION SELECT p.relid FROM pg_catalog.pg_partition_tree(i.indexrelid) p) x
                                   JOIN pg_catalog.pg_class c ON c.oid = x.id
                                  WHERE i.indrelid = n.rel AND i.indisunique AND i.indisvalid AND i.indimmediate
                                    AND i.indpred IS NULL AND i.indexprs IS NULL
                                    AND ARRAY(SELECT k.attname::text
                                                FROM pg_catalog.pg_attribute k
                                               WHERE k.attrelid = i.indrelid
                                                 AND k.attnum = ANY ((i.indkey::int2[])[0:i.indnkeyatts - 1])
                                               ORDER BY k.attname::text COLLATE "C") = CAST(? AS text[])) AS keys
                      FROM (SELECT pg_catalog.to_regclass(CAST(? AS text)) AS rel) n) s
              LEFT JOIN pg_catalog.pg_attribute a ON a.attrelid = s.rel AND a.attnum > 0 AND NOT a.attisdropped
              LEFT JOIN pg_catalog.pg_type t ON t.oid = a.atttypid
            """;

    /** Reads the shape; what is wrong with it is thrown as an error of the setup, with what to do. */
    static TableShape read(Connection connection, FencedTable<?> table) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(READ)) {
            Object[] key = table.keyColumns().stream().sorted().toArray();
            statement.setArray(1, connection.createArrayOf("text", key));
            statement.setString(2, table.toString());
            try (ResultSet row = statement.executeQuery()) {
                return read(row, table);
            }
        }
    }

    private static TableShape read(ResultSet row, FencedTable<?> table) throws SQLException {
        Map<String, Column> columns = new HashMap<>();
        boolean markFits = false;
        row.next();
        requireReady(table, row.getBoolean(1), row.getString(3), row.getString(4));
        Set<String> keys = Set.of((String[]) row.getArray(5).getArray());
        String fsync = row.getString(2);
        do {
            @Nullable String column = row.getString(6);
            if (column != null) {
                columns.put(column, new Column(row.getString(8), row.getString(9)));
                markFits |= column.equals(FencedTable.TOKEN) && row.getBoolean(7);
            }
        } while (row.next());
        requireFits(table, columns, markFits, keys);
        return new TableShape(Map.copyOf(columns), keys, fsync);
    }

    private static void requireReady(FencedTable<?> table, boolean standby, String fence, String role) {
        if (standby) {
            throw misfit(
                    table,
                    "this server is a standby (pg_is_in_recovery() is true), which lags behind, and its marks with it."
                            + " Connect to the primary (targetServerType=primary)");
        }
        switch (fence) {
            case "none" ->
                throw misfit(table, "this database has no fence schema. Run FenceMigrations.on(owner).install() once");
            case "older" ->
                throw misfit(
                        table,
                        "the fence schema of this database is older than row mode. Run"
                                + " FenceMigrations.on(owner).install() once");
            case "no right" ->
                throw misfit(
                        table,
                        "the role '" + role + "' may not use row mode. Run FenceMigrations.on(owner).grantRowsTo(\""
                                + role + "\") as the owner of the schema");
            default -> {
                // Ready.
            }
        }
    }

    private static void requireFits(
            FencedTable<?> table, Map<String, Column> columns, boolean tokenNotNull, Set<String> keys) {
        if (columns.isEmpty()) {
            throw misfit(table, "there is no such table for this role. Check its name, and that of its schema");
        }
        boolean token = tokenNotNull && is(columns.get(FencedTable.TOKEN), "int8");
        if (!token || !is(columns.get(FencedTable.HOLDER), "uuid")) {
            throw misfit(
                    table,
                    "it lacks the columns that hold the mark of a row, or they are of another type. As its owner, run: ALTER"
                            + " TABLE " + table + " ADD COLUMN " + FencedTable.TOKEN
                            + " bigint NOT NULL DEFAULT 0; ALTER TABLE " + table + " ADD COLUMN " + FencedTable.HOLDER
                            + " uuid");
        }
        if (keys.isEmpty()) {
            throw misfit(
                    table,
                    "it has no unique index on exactly the columns " + table.keyColumns()
                            + ", so these do not tell one row from another. Name the columns of its primary key");
        }
    }

    private static boolean is(@Nullable Column column, String element) {
        return column != null && column.element().equals(element);
    }

    static BackendMisconfiguredException misfit(FencedTable<?> table, String why) {
        return new BackendMisconfiguredException(
                "Row mode on table " + table + " refused: " + why + ". Nothing happened.", null);
    }

    /** Returns the type of a column as SQL writes it; empty where there is no such column, which the server will say better. */
    Optional<String> type(String column) {
        return Optional.ofNullable(columns.get(column)).map(Column::type);
    }

    /** Returns the type of a column as the driver names the element of an array. */
    String element(FencedTable<?> table, String column) {
        Column found = columns.get(column);
        if (found == null) {
            throw new IllegalArgumentException("Table " + table + " has no column " + column + ", but "
                    + List.copyOf(columns.keySet()).stream().sorted().toList() + ". Nothing was sent.");
        }
        if (found.type().endsWith("[]")) {
            throw new IllegalArgumentException("Column " + column + " of table " + table + " is a " + found.type()
                    + ", and a batch sends arrays of single values. Nothing was sent; update row by row.");
        }
        return found.element();
    }
}
