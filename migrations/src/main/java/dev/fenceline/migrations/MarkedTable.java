package dev.fenceline.migrations;

import dev.fenceline.FencingToken;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/**
 * A table whose rows carry their own mark, and the statements that raise its marks.
 *
 * <p>They go by the key, page by page in its order, and not by where a row lies: a writer who is still admitted moves his row, and could
 * move it behind us. A key rarely changes; rows whose key did are met by a statement over all of the table at the end.
 *
 * @param name quoted, with its schema
 * @param key quoted columns of a unique index without NULLs, with the collation by which that index tells them apart, which may be finer
 *     than the column's; empty where there is none
 * @param types theirs, as SQL writes them
 * @param operatorSchemas where their comparisons are found, quoted, for a search_path
 */
record MarkedTable(
        String name,
        long oid,
        Kind kind,
        Rights rights,
        Protection protection,
        List<String> key,
        List<String> types,
        String operatorSchemas) {

    /** An old-style child is a table of its own here, while a partition is a part of its root. */
    enum Kind {
        PLAIN,
        PARTITIONED
    }

    /** Whether our role may read the rows and write their marks. */
    enum Rights {
        SUFFICIENT,
        MISSING
    }

    /** Whether a plain UPDATE would be refused or recorded. */
    enum Protection {
        PROTECTED,
        NONE
    }

    /** How a page treats rows that somebody has locked. */
    enum Locked {
        SKIP,
        AWAIT
    }

    /** What raising one page did: {@code left} rows were skipped; {@code last} is the key of its last row, empty where there is no next page. */
    record Page(long looked, long raised, long left, List<String> last) {

        /** A page of which nothing is known, for somebody was in the way. */
        static final Page NONE = new Page(0, 0, 0, List.of());
    }

    private static final int ROWS = 1000;

    /** The highest that a token can be; a row can hold more, and a fence has written none of these. */
    static final long HIGHEST = FencingToken.VALUE_LIMIT - 1;

    /** How often the statement of a page names the holder, always after the key: two conditions, and what is set. */
    private static final int HOLDERS_OF_A_PAGE = 3;

    /** Of this raising: what an earlier one has raised is an old mark like any other. */
    private static final String UNRAISED =
            "r.fence_token > 0 AND r.fence_token < " + HIGHEST + " AND r.fence_holder IS DISTINCT FROM ?";

    /** What a raising has brought there stays: nobody is admitted, and no grant can be newer. */
    private static final String TOO_HIGH = "r.fence_token >= " + HIGHEST
            + " AND NOT EXISTS (SELECT FROM fenceline.raising x WHERE x.holder = r.fence_holder)";

    static List<MarkedTable> all(Connection connection) throws SQLException {
        List<MarkedTable> tables = new ArrayList<>();
        try (Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery(Sql.resource("marked_tables.sql"))) {
            while (row.next()) {
                tables.add(new MarkedTable(
                        row.getString(1),
                        row.getLong(2),
                        row.getBoolean(3) ? Kind.PARTITIONED : Kind.PLAIN,
                        row.getBoolean(4) ? Rights.SUFFICIENT : Rights.MISSING,
                        row.getBoolean(5) ? Protection.PROTECTED : Protection.NONE,
                        Sql.texts(row, 6),
                        Sql.texts(row, 7),
                        row.getString(8)));
            }
        }
        return tables;
    }

    /** Raises the marks of the next rows after a key, or of the first ones; of all in one statement where there is no key. */
    Page raise(Connection connection, UUID holder, List<String> after, Locked locked) throws SQLException {
        if (key.isEmpty()) {
            return raiseAll(connection, holder);
        }
        try (PreparedStatement statement =
                connection.prepareStatement(after.isEmpty() ? firstPage(locked) : nextPage(locked))) {
            int parameter = 1;
            for (String value : after) {
                statement.setString(parameter++, value);
            }
            for (int use = 0; use < HOLDERS_OF_A_PAGE; use++) {
                statement.setObject(parameter++, holder);
            }
            try (ResultSet row = statement.executeQuery()) {
                row.next();
                long looked = row.getLong(1);
                long raised = row.getLong(2);
                return new Page(looked, raised, row.getLong(3) - raised, looked < ROWS ? List.of() : Sql.texts(row, 4));
            }
        }
    }

    /** What one look at all rows finds after the last page: marks that were passed by, and such as cannot be raised. */
    record Rest(long unraised, long tooHigh) {}

    Rest rest(Connection connection, UUID holder) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement("SELECT count(*) FILTER (WHERE " + UNRAISED
                + "), count(*) FILTER (WHERE " + TOO_HIGH + ") FROM " + rows() + " AS r")) {
            statement.setObject(1, holder);
            try (ResultSet row = statement.executeQuery()) {
                row.next();
                return new Rest(row.getLong(1), row.getLong(2));
            }
        }
    }

    /** Raises all that are left in one statement, and waits for those that are in use. */
    Page raiseAll(Connection connection, UUID holder) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement("UPDATE " + rows()
                + " AS r SET fence_token = fenceline.raised_token_v1(r.fence_token), fence_holder = ? WHERE "
                + UNRAISED)) {
            statement.setObject(1, holder);
            statement.setObject(2, holder);
            long raised = statement.executeUpdate();
            return new Page(raised, raised, 0, List.of());
        }
    }

    private String firstPage(Locked locked) {
        return page("true", locked);
    }

    private String nextPage(Locked locked) {
        return page(
                "(" + String.join(", ", key) + ") > ("
                        + types.stream().map(type -> "?::" + type).collect(Collectors.joining(", ")) + ")",
                locked);
    }

    private String page(String condition, Locked locked) {
        String columns = IntStream.range(0, key.size())
                .mapToObj(i -> key.get(i) + " AS k" + i)
                .collect(Collectors.joining(", "));
        String same = IntStream.range(0, key.size())
                .mapToObj(i -> "r." + key.get(i) + " = p.k" + i)
                .collect(Collectors.joining(" AND "));
        Stream<Integer> places = IntStream.range(0, key.size()).boxed();
        String last = places.map(i -> "k" + i + "::text").collect(Collectors.joining(", "));
        String backwards =
                IntStream.range(0, key.size()).mapToObj(i -> "k" + i + " DESC").collect(Collectors.joining(", "));
        return "WITH page AS MATERIALIZED (SELECT " + columns + " FROM " + rows() + " WHERE " + condition + " ORDER BY "
                + String.join(", ", key) + " LIMIT " + ROWS + "),"
                + " p AS MATERIALIZED (SELECT p.* FROM " + rows() + " AS r JOIN page AS p ON " + same + " WHERE "
                + UNRAISED + " FOR NO KEY UPDATE OF r" + (locked == Locked.SKIP ? " SKIP LOCKED" : "") + "),"
                + " raised AS (UPDATE " + rows()
                + " AS r SET fence_token = fenceline.raised_token_v1(r.fence_token), fence_holder = ? FROM p WHERE "
                + same + " RETURNING 1)"
                + " SELECT (SELECT count(*) FROM page), (SELECT count(*) FROM raised),"
                + " (SELECT count(*) FROM " + rows() + " AS r JOIN page AS p ON " + same + " WHERE " + UNRAISED + "),"
                + " (SELECT ARRAY[" + last + "] FROM page ORDER BY " + backwards + " LIMIT 1)";
    }

    private String rows() {
        return kind == Kind.PARTITIONED ? name : "ONLY " + name;
    }
}
