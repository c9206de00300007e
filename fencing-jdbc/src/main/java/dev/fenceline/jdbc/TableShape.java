package dev.fenceline.jdbc;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * What the catalog says about a table in row mode, about the role that asks, and about the database that both are in.
 *
 * @param columns by name, in their order
 * @param keyIndexes the unique indexes on exactly the key's columns, and their partitions
 * @param role who asks
 * @param mayDelete whether that role may delete rows
 * @param fsync the server's setting
 */
record TableShape(Map<String, Column> columns, Set<String> keyIndexes, String role, boolean mayDelete, String fsync) {

    /**
     * A column.
     *
     * @param type as SQL writes it
     * @param element as the driver names it, for arrays
     * @param notNull whether it always has a value
     * @param rights what the role may do with it: SELECT, INSERT, UPDATE
     */
    record Column(String type, String element, boolean notNull, Set<String> rights) {}

    /**
     * What a name stands for.
     *
     * @param kind as in pg_class; empty where there is nothing of this name
     * @param bases what a view is made of
     * @param uniqueKeys the columns of each index that tells rows apart, the primary key's first
     */
    record Relation(String kind, List<String> bases, List<String> uniqueKeys) {}

    // Invariant: one row at least, whatever is missing; and nothing is asked for that the role may not ask for.
    private static final String READ = """
            SELECT s.standby, s.fsync, s.fence, s.role, s.keys, a.attname, a.attnotnull, pg_catalog.format_type(a.atttypid, -1),
                   CASE WHEN t.typnamespace = 'pg_catalog'::pg_catalog.regnamespace THEN t.typname::text
                        ELSE pg_catalog.format_type(a.atttypid, -1) END,
                   ARRAY(SELECT r.name
                           FROM pg_catalog.unnest(ARRAY['SELECT', 'INSERT', 'UPDATE']) AS r (name)
                          WHERE pg_catalog.has_column_privilege(a.attrelid, a.attnum, r.name)),
                   CASE WHEN s.rel IS NOT NULL THEN pg_catalog.has_table_privilege(s.rel, 'DELETE') END,
                   coalesce((SELECT c.relkind::text FROM pg_catalog.pg_class c WHERE c.oid = s.rel), ''),
                   ARRAY(SELECT DISTINCT pg_catalog.format('%I.%I', n.nspname, b.relname)
                           FROM pg_catalog.pg_rewrite w
                           JOIN pg_catalog.pg_depend d ON d.classid = 'pg_catalog.pg_rewrite'::pg_catalog.regclass
                            AND d.objid = w.oid AND d.refclassid = 'pg_catalog.pg_class'::pg_catalog.regclass
                            AND d.refobjid <> w.ev_class
                           JOIN pg_catalog.pg_class b ON b.oid = d.refobjid
                           JOIN pg_catalog.pg_namespace n ON n.oid = b.relnamespace
                          WHERE w.ev_class = s.rel AND w.ev_type = '1' ORDER BY 1),
                   ARRAY(SELECT (SELECT pg_catalog.string_agg(k.attname::text, ', ' ORDER BY p.n)
                                   FROM pg_catalog.unnest((i.indkey::int2[])[0:i.indnkeyatts - 1]) WITH ORDINALITY AS p (num, n)
                                   JOIN pg_catalog.pg_attribute k ON k.attrelid = i.indrelid AND k.attnum = p.num)
                           FROM pg_catalog.pg_index i
                          WHERE i.indrelid = s.rel AND i.indisunique AND i.indisvalid AND i.indimmediate
                            AND i.indpred IS NULL AND i.indexprs IS NULL
                          ORDER BY NOT i.indisprimary, i.indexrelid)
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
             ORDER BY a.attnum
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
        row.next();
        TableMisfit misfit = new TableMisfit(table);
        String role = row.getString(4);
        misfit.requireReady(row.getBoolean(1), row.getString(3), role);
        String fsync = row.getString(2);
        Set<String> keyIndexes = Set.copyOf(texts(row, 5));
        boolean mayDelete = row.getBoolean(11);
        Relation relation = new Relation(row.getString(12), texts(row, 13), texts(row, 14));
        Map<String, Column> columns = new LinkedHashMap<>();
        do {
            @Nullable String column = row.getString(6);
            if (column != null) {
                columns.put(
                        column,
                        new Column(row.getString(8), row.getString(9), row.getBoolean(7), Set.copyOf(texts(row, 10))));
            }
        } while (row.next());
        TableShape shape = new TableShape(Collections.unmodifiableMap(columns), keyIndexes, role, mayDelete, fsync);
        misfit.requireFits(shape, relation);
        return shape;
    }

    private static List<String> texts(ResultSet row, int column) throws SQLException {
        return List.of((String[]) row.getArray(column).getArray());
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
                    + columns.keySet().stream().sorted().toList() + ". Nothing was sent.");
        }
        if (found.type().endsWith("[]")) {
            throw new IllegalArgumentException("Column " + column + " of table " + table + " is a " + found.type()
                    + ", and a batch sends arrays of single values. Nothing was sent; update row by row.");
        }
        return found.element();
    }
}
