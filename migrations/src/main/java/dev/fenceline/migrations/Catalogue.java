package dev.fenceline.migrations;

import dev.fenceline.BackendMisconfiguredException;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** Looks at the tables of the user's, and changes nothing. Every statement is a transaction of its own. */
final class Catalogue {

    /** The schema's version that a plan needs: functions of that one and of no later one are called. */
    static final int NEEDED_VERSION = 4;

    private static final String SCHEMA = Sql.resource("look_at_schema.sql");
    private static final String TABLES = Sql.resource("look_at_tables.sql");
    private static final String COLUMNS = Sql.resource("look_at_columns.sql");
    private static final String TRIGGERS = Sql.resource("look_at_triggers.sql");
    private static final String OTHERS = Sql.resource("look_at_others.sql");
    private static final String PROTECTION = Sql.resource("look_at_protection.sql");

    // One round trip where nothing is wrong; one for each part where something is, so that every fault is told.
    private static final String TABLE_FITS =
            "SELECT fenceline.require_protectable_v1(?::pg_catalog.oid::pg_catalog.regclass)";
    private static final String KEY_FITS = "SELECT fenceline.key_part_v1(?::pg_catalog.oid::pg_catalog.regclass, ?)";
    private static final String FITS = """
            WITH t (oid) AS (SELECT ?::pg_catalog.oid::pg_catalog.regclass)
            SELECT fenceline.require_protectable_v1(t.oid),
                   ARRAY(SELECT fenceline.key_part_v1(t.oid, k.name)::text FROM unnest(?::text[]) AS k (name))
              FROM t
            """;

    // The server's own words, whatever its language: "ERROR: … refused: <problem>\n  Hint: <remedy>".
    private static final Pattern REFUSAL =
            Pattern.compile("refused: (.*?)\\R\\s*\\S+: (.*?)(?:\\R.*)?$", Pattern.DOTALL);

    private final Connection connection;

    Catalogue(Connection connection) {
        this.connection = connection;
    }

    /** Refuses a database without the fence schema, with an older one, and a role that may not use it. */
    void requireSchema(Wording wording) throws SQLException {
        String role;
        String database;
        boolean standby;
        boolean installed;
        boolean permitted;
        try (PreparedStatement look = connection.prepareStatement(SCHEMA);
                ResultSet row = look.executeQuery()) {
            row.next();
            role = row.getString(1);
            database = row.getString(2);
            standby = row.getBoolean(3);
            installed = row.getBoolean(4);
            permitted = row.getBoolean(5);
        }
        String refused = "Plan refused, nothing was changed: database " + database + " ";
        if (standby) {
            throw new BackendMisconfiguredException(
                    refused
                            + "is served by a standby, which can be changed through its primary only. Connect to the primary.",
                    null);
        }
        if (!installed) {
            throw new BackendMisconfiguredException(
                    refused + "has no fence schema. Install it first: " + wording.install() + ".", null);
        }
        if (!permitted) {
            throw new BackendMisconfiguredException(
                    refused + "does not let role '" + role + "' protect tables. Have the owner of schema fenceline run"
                            + " " + wording.grant(Wording.Right.PROTECTION, role) + ".",
                    null);
        }
        int version = version();
        if (version < NEEDED_VERSION) {
            throw new BackendMisconfiguredException(
                    refused + "has version " + version + " of the fence schema, and protecting tables needs version "
                            + NEEDED_VERSION + ". Upgrade it first: " + wording.install() + ".",
                    null);
        }
    }

    private int version() throws SQLException {
        try (PreparedStatement look = connection.prepareStatement("SELECT fenceline.version_v1()");
                ResultSet row = look.executeQuery()) {
            row.next();
            return row.getInt(1);
        }
    }

    /** A name and what is there: a table, or else why not. */
    record Found(TableName name, Optional<TableState> table, List<TableName> elsewhere) {}

    Map<TableName, Found> look(List<TableName> names) throws SQLException {
        List<Row> rows = new ArrayList<>();
        Map<TableName, Found> found = new HashMap<>();
        try (PreparedStatement look = connection.prepareStatement(TABLES)) {
            look.setArray(1, texts(names.stream().map(TableName::schema)));
            look.setArray(2, texts(names.stream().map(TableName::name)));
            try (ResultSet row = look.executeQuery()) {
                while (row.next()) {
                    TableName name = names.get(row.getInt("place") - 1);
                    if (row.getString("oid") == null) {
                        found.put(name, new Found(name, Optional.empty(), similar(row)));
                    } else {
                        rows.add(new Row(
                                name,
                                row.getLong("oid"),
                                kind(row),
                                row.getString("owner"),
                                row.getBoolean("owned"),
                                row.getBoolean("reachable"),
                                row.getInt("partitions"),
                                Sql.texts(row, 10)));
                    }
                }
            }
        }
        List<Long> oids = rows.stream().map(Row::oid).toList();
        Map<Long, List<TableState.Column>> columns = columns(oids);
        Map<Long, List<TableState.Trigger>> triggers = triggers(oids);
        Map<Long, List<TableState.Other>> others = others(oids);
        Map<Long, List<Protect>> said = said(rows);
        for (Row row : rows) {
            TableState state = new TableState(
                    row.name,
                    row.oid,
                    row.kind,
                    row.owner,
                    row.owned,
                    row.reachable,
                    row.partitions,
                    row.subscriptions,
                    columns.getOrDefault(row.oid, List.of()),
                    triggers.getOrDefault(row.oid, List.of()),
                    others.getOrDefault(row.oid, List.of()),
                    said.getOrDefault(row.oid, List.of()));
            found.put(row.name, new Found(row.name, Optional.of(state), List.of()));
        }
        return found;
    }

    private record Row(
            TableName name,
            long oid,
            TableState.Kind kind,
            String owner,
            boolean owned,
            boolean reachable,
            int partitions,
            List<String> subscriptions) {}

    private static List<TableName> similar(ResultSet row) throws SQLException {
        List<String> schemas = Sql.texts(row, 11);
        List<String> names = Sql.texts(row, 12);
        List<TableName> similar = new ArrayList<>();
        for (int i = 0; i < names.size(); i++) {
            similar.add(new TableName(schemas.get(i), names.get(i)));
        }
        return similar;
    }

    private static TableState.Kind kind(ResultSet row) throws SQLException {
        if (!row.getString("relkind").matches("[rp]")) {
            return TableState.Kind.OTHER;
        }
        if (row.getBoolean("relispartition")) {
            return TableState.Kind.PARTITION;
        }
        return row.getBoolean("typed") ? TableState.Kind.TYPED_TABLE : TableState.Kind.TABLE;
    }

    private Map<Long, List<TableState.Column>> columns(List<Long> oids) throws SQLException {
        Map<Long, List<TableState.Column>> columns = new HashMap<>();
        try (PreparedStatement look = connection.prepareStatement(COLUMNS)) {
            look.setArray(1, oids(oids));
            try (ResultSet row = look.executeQuery()) {
                while (row.next()) {
                    columns.computeIfAbsent(row.getLong(1), oid -> new ArrayList<>())
                            .add(new TableState.Column(
                                    row.getString(2),
                                    row.getString(3),
                                    row.getBoolean(4),
                                    Optional.ofNullable(row.getString(5)),
                                    Sql.texts(row, 6)));
                }
            }
        }
        return columns;
    }

    private Map<Long, List<TableState.Trigger>> triggers(List<Long> oids) throws SQLException {
        Map<Long, List<TableState.Trigger>> triggers = new HashMap<>();
        try (PreparedStatement look = connection.prepareStatement(TRIGGERS)) {
            look.setArray(1, oids(oids));
            try (ResultSet row = look.executeQuery()) {
                while (row.next()) {
                    triggers.computeIfAbsent(row.getLong(1), oid -> new ArrayList<>())
                            .add(new TableState.Trigger(
                                    new TableName(row.getString(3), row.getString(4)),
                                    row.getString(5),
                                    Optional.ofNullable(row.getString(6)).map(text -> text.charAt(0)),
                                    Optional.ofNullable(row.getString(7)).orElse(""),
                                    row.getBoolean(8)));
                }
            }
        }
        return triggers;
    }

    private Map<Long, List<TableState.Other>> others(List<Long> oids) throws SQLException {
        Map<Long, List<TableState.Other>> others = new HashMap<>();
        try (PreparedStatement look = connection.prepareStatement(OTHERS)) {
            look.setArray(1, oids(oids));
            try (ResultSet row = look.executeQuery()) {
                while (row.next()) {
                    others.computeIfAbsent(row.getLong(1), oid -> new ArrayList<>())
                            .add(new TableState.Other(
                                    new TableName(row.getString(2), row.getString(3)),
                                    row.getString(4),
                                    row.getString(5).charAt(0)));
                }
            }
        }
        return others;
    }

    private Map<Long, List<Protect>> said(List<Row> rows) throws SQLException {
        Map<Long, TableName> names = rows.stream().collect(Collectors.toMap(Row::oid, Row::name));
        Map<Long, List<Protect>> said = new HashMap<>();
        try (PreparedStatement look = connection.prepareStatement(PROTECTION)) {
            look.setArray(1, oids(rows.stream().map(Row::oid).toList()));
            try (ResultSet row = look.executeQuery()) {
                while (row.next()) {
                    long oid = row.getLong(1);
                    String lockClass = row.getString(3);
                    List<String> key = Sql.texts(row, 4);
                    Optional<Protect.Mode> mode = Protect.Mode.of(row.getString(2));
                    // What says anything else was made by hand, and is nothing that protect could restore.
                    if (mode.isPresent() && Protect.isLockClass(lockClass)) {
                        said.computeIfAbsent(oid, first -> new ArrayList<>())
                                .add(new Protect(Objects.requireNonNull(names.get(oid)), lockClass, key, mode.get()));
                    }
                }
            }
        }
        return said;
    }

    /** Why triggers cannot protect a table by this key, as the database itself says when it is asked to. */
    List<Fault> unprotectable(TableState table, List<String> key) throws SQLException {
        if (refusal(table, FITS, connection.createArrayOf("text", key.toArray()))
                .isEmpty()) {
            return List.of();
        }
        List<Fault> faults = new ArrayList<>();
        unprotectable(table).ifPresent(faults::add);
        for (String column : key) {
            refusal(table, KEY_FITS, column).ifPresent(faults::add);
        }
        return faults;
    }

    /** Likewise, whatever the key. */
    Optional<Fault> unprotectable(TableState table) throws SQLException {
        return refusal(table, TABLE_FITS);
    }

    private Optional<Fault> refusal(TableState table, String question, Object... more) throws SQLException {
        try (PreparedStatement ask = connection.prepareStatement(question)) {
            ask.setLong(1, table.oid());
            for (int i = 0; i < more.length; i++) {
                ask.setObject(i + 2, more[i]);
            }
            ask.executeQuery().close();
            return Optional.empty();
        } catch (SQLException e) {
            Matcher said = REFUSAL.matcher(String.valueOf(e.getMessage()));
            if (Sql.state(e).equals("FL011") && said.find()) {
                return Optional.of(new Fault(table.name().toString(), said.group(1), said.group(2)));
            }
            throw e;
        }
    }

    private java.sql.Array texts(Stream<String> values) throws SQLException {
        return connection.createArrayOf("text", values.toArray());
    }

    private java.sql.Array oids(List<Long> values) throws SQLException {
        return connection.createArrayOf("oid", values.toArray());
    }
}
