package dev.fenceline.jdbc;

import dev.fenceline.BackendMisconfiguredException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Says what keeps a table, or the database that it is in, from row mode, and what to run. */
final class TableMisfit {

    // What a mark may have been kept in by hand; the cast to its right type is PostgreSQL's own.
    private static final Map<String, Set<String>> CAN_BECOME = Map.of(
            FencedTable.TOKEN, Set.of("int2", "int4", "int8", "numeric", "text", "varchar"),
            FencedTable.HOLDER, Set.of("text", "varchar", "bpchar"));

    private final FencedTable<?> table;
    private final List<String> faults = new ArrayList<>();
    private final List<String> commands = new ArrayList<>();

    TableMisfit(FencedTable<?> table) {
        this.table = table;
    }

    static BackendMisconfiguredException of(FencedTable<?> table, String why, @Nullable Throwable cause) {
        return new BackendMisconfiguredException(
                "Row mode on table " + table + " refused: " + why + ". Nothing happened.", cause);
    }

    void requireReady(boolean standby, String fence, String role) {
        if (standby) {
            throw refused(
                    "this server is a standby (pg_is_in_recovery() is true), which lags behind, and its marks with it."
                            + " Connect to the primary (targetServerType=primary)");
        }
        switch (fence) {
            case "none" ->
                throw refused("this database has no fence schema. Run FenceMigrations.on(owner).install() once");
            case "older" ->
                throw refused("the fence schema of this database is older than row mode. Run"
                        + " FenceMigrations.on(owner).install() once");
            case "no right" ->
                throw refused(
                        "the role '" + role + "' may not use row mode. Run FenceMigrations.on(owner).grantRowsTo(\""
                                + role + "\") as the owner of the schema");
            default -> {
                // Ready.
            }
        }
    }

    void requireFits(TableShape shape, TableShape.Relation relation) {
        requireTable(relation);
        requireMark(shape.columns());
        requireKey(shape, relation.uniqueKeys());
    }

    private void requireTable(TableShape.Relation relation) {
        switch (relation.kind()) {
            case "r", "p" -> {
                // A table, maybe one of partitions.
            }
            case "" -> throw refused("there is no such table for this role. Check its name, and that of its schema");
            case "v", "m" ->
                throw refused("it is a view, and the mark is kept in the rows of a table. " + base(relation.bases()));
            case "f" ->
                throw refused("it is a foreign table, whose rows and marks are on another server. Connect to that one");
            default -> throw refused("it is not a table. Check its name, and that of its schema");
        }
    }

    private static String base(List<String> bases) {
        return switch (bases.size()) {
            case 0 -> "Name that table";
            case 1 -> "Name that table, which is " + bases.get(0);
            default -> "Name the one of its tables whose rows are written: " + String.join(" or ", bases);
        };
    }

    private void requireMark(Map<String, TableShape.Column> columns) {
        TableShape.Column token = columns.get(FencedTable.TOKEN);
        requireColumn(FencedTable.TOKEN, token, "int8", "bigint", " NOT NULL DEFAULT 0");
        requireColumn(FencedTable.HOLDER, columns.get(FencedTable.HOLDER), "uuid", "uuid", "");
        if (token != null && token.element().equals("int8") && !token.notNull()) {
            faults.add("its column " + FencedTable.TOKEN + " may be null, and is to be NOT NULL");
            commands.add(
                    "UPDATE " + table + " SET " + FencedTable.TOKEN + " = 0 WHERE " + FencedTable.TOKEN + " IS NULL");
            commands.add(alter("ALTER COLUMN " + FencedTable.TOKEN + " SET DEFAULT 0, ALTER COLUMN " + FencedTable.TOKEN
                    + " SET NOT NULL"));
        }
        if (!faults.isEmpty()) {
            throw refused(String.join("; ", faults) + ". As its owner, run: " + String.join("; ", commands));
        }
    }

    private void requireColumn(
            String name, TableShape.@Nullable Column found, String element, String type, String constraints) {
        if (found == null) {
            faults.add("it has no column " + name + ", which is to hold a part of the mark");
            commands.add(alter("ADD COLUMN " + name + " " + type + constraints));
        } else if (!found.element().equals(element)) {
            faults.add("its column " + name + " is " + found.type() + ", and is to be " + type
                    + (constraints.isEmpty() ? "" : " NOT NULL"));
            if (CAN_BECOME.getOrDefault(name, Set.of()).contains(found.element())) {
                commands.add(alter(conversion(name, type, !constraints.isEmpty())));
            } else {
                // Something of the user's, who has the name first.
                commands.add(alter("RENAME COLUMN " + name + " TO " + name + "_before"));
                commands.add(alter("ADD COLUMN " + name + " " + type + constraints));
            }
        }
    }

    /** A default of the old type has no cast; PostgreSQL drops it first, and sets the new one last. */
    private static String conversion(String name, String type, boolean notNull) {
        String column = "ALTER COLUMN " + name;
        String change = column + " DROP DEFAULT, " + column + " TYPE " + type + " USING ";
        return notNull
                ? change + "coalesce(" + name + "::" + type + ", 0), " + column + " SET DEFAULT 0, " + column
                        + " SET NOT NULL"
                : change + name + "::" + type;
    }

    private String alter(String change) {
        return "ALTER TABLE " + table + " " + change;
    }

    private void requireKey(TableShape shape, List<String> uniqueKeys) {
        List<String> absent = table.keyColumns().stream()
                .filter(column -> !shape.columns().containsKey(column))
                .toList();
        if (!absent.isEmpty()) {
            throw refused("it has no column " + String.join(" and no column ", absent)
                    + ", which is to be a part of its key, but "
                    + List.copyOf(shape.columns().keySet()) + ". " + remedy(uniqueKeys));
        }
        if (shape.keyIndexes().isEmpty()) {
            throw refused("it has no unique index on exactly the columns " + table.keyColumns()
                    + ", so these do not tell one row from another. " + remedy(uniqueKeys));
        }
    }

    private static String remedy(List<String> uniqueKeys) {
        return uniqueKeys.isEmpty()
                ? "Give it a primary key; an index that is deferrable, partial or on expressions does not serve"
                : "Name the columns that its rows are told apart by: [" + String.join("] or [", uniqueKeys) + "]";
    }

    private BackendMisconfiguredException refused(String why) {
        return of(table, why, null);
    }
}
