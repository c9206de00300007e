package dev.fenceline.migrations;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** What it takes to add the columns of row mode, and to drop them. */
final class ColumnSteps {

    static final String KEEPS_OUT_ALL = "ACCESS EXCLUSIVE";

    private static final String NAMES = TableState.TOKEN + " and " + TableState.HOLDER;
    private static final String OURS =
            TableState.TOKEN + " bigint NOT NULL DEFAULT 0 and " + TableState.HOLDER + " uuid";
    private static final String PREPARED =
            ": a transaction that goes on with a SELECT * or RETURNING * that its connection has prepared before fails once with 0A000"
                    + " (cached plan must not change result type). Deploy when that is tolerable, or name the columns in old code first.";

    /** Said of whichever comes second. */
    static final String NOT_BOTH =
            ", and row mode enters no lock: what it writes is refused by a table that enforces, and recorded by one that observes. Use"
                    + " one of the two for a table.";

    private static final String THEIRS = "What is there is somebody else's: drop it by hand, if it is to go.";

    // As TableState.hasMarkColumns has it.
    private static final String OURS_ARE_THERE = "IF 2 <> (SELECT pg_catalog.count(*) FROM pg_catalog.pg_attribute a"
            + " LEFT JOIN pg_catalog.pg_attrdef d ON d.adrelid = a.attrelid AND d.adnum = a.attnum"
            + " WHERE a.attrelid = %s::pg_catalog.regclass AND NOT a.attisdropped AND ("
            + "a.attname = '" + TableState.TOKEN
            + "' AND a.atttypid = 'pg_catalog.int8'::pg_catalog.regtype AND a.attnotnull"
            + " AND pg_catalog.pg_get_expr(d.adbin, d.adrelid) IN ("
            + TableState.ZERO.stream().map(Identifiers::stringConstant).collect(Collectors.joining(", ")) + ")"
            + " OR a.attname = '" + TableState.HOLDER + "' AND a.atttypid = 'pg_catalog.uuid'::pg_catalog.regtype"
            + " AND NOT a.attnotnull AND d.oid IS NULL)) THEN"
            + " RAISE EXCEPTION USING ERRCODE = 'FL011', MESSAGE = %s, HINT = %s; END IF;";

    private ColumnSteps() {}

    static List<Fault> faults(AddColumns change, TableState table) {
        List<Fault> faults = new ArrayList<>();
        if (table.kind() == TableState.Kind.TYPED_TABLE) {
            faults.add(new Fault(
                    table.name().toString(),
                    "it is a table OF a type, which has the columns of that type and no others",
                    "Add the columns to the type, with ALTER TYPE … ADD ATTRIBUTE … CASCADE, and set the default and NOT NULL"
                            + " on the table; or use enforced mode, which needs no columns."));
        }
        if (!table.markColumns().isEmpty() && !table.hasMarkColumns()) {
            faults.add(new Fault(
                    table.name().toString(),
                    "it has " + described(table) + ", which is not what row mode keeps its mark in: " + OURS,
                    "Rename what is there, or use enforced mode, which needs no columns."));
        }
        return faults;
    }

    static Step add(AddColumns change, TableState table) {
        if (table.hasMarkColumns()) {
            return new Step(change, Step.State.ALREADY_SO, "has " + NAMES, Optional.empty(), List.of(), List.of());
        }
        return new Step(
                change,
                Step.State.TO_DO,
                "gets " + OURS,
                Optional.of(lock(table, "adds two columns; no row is rewritten")),
                List.of(ProtectionSteps.lock(table, KEEPS_OUT_ALL), addition(table)),
                List.of(ProtectionSteps.lock(table, KEEPS_OUT_ALL), check(table), removal(table)));
    }

    static List<String> warnings(AddColumns change, TableState table) {
        return Stream.concat(
                        Stream.of(
                                change.table() + PREPARED,
                                change.table()
                                        + ": row mode does not stop old code. For a system that exists, enforced mode is the default: it"
                                        + " refuses old writers and needs no columns."),
                        table.isProtected() ? Stream.of(change.table() + ": is protected" + NOT_BOTH) : Stream.of())
                .toList();
    }

    static List<Fault> faults(DropColumns change, TableState table) {
        List<Fault> faults = new ArrayList<>();
        if (!table.markColumns().isEmpty() && !table.hasMarkColumns()) {
            faults.add(new Fault(
                    table.name().toString(),
                    "it has " + described(table) + ", and row mode's own are " + OURS,
                    THEIRS));
        }
        if (!table.dependents().isEmpty()) {
            faults.add(new Fault(
                    table.name().toString(),
                    "on " + NAMES + " depends " + String.join(", ", table.dependents()),
                    "Drop or change that first."));
        }
        return faults;
    }

    static Step drop(DropColumns change, TableState table) {
        if (table.markColumns().isEmpty()) {
            return new Step(
                    change,
                    Step.State.ALREADY_SO,
                    "has no " + TableState.TOKEN,
                    Optional.empty(),
                    List.of(),
                    List.of());
        }
        return new Step(
                change,
                Step.State.TO_DO,
                "loses " + NAMES,
                Optional.of(lock(table, "drops two columns; no row is rewritten")),
                List.of(ProtectionSteps.lock(table, KEEPS_OUT_ALL), check(table), removal(table)),
                List.of(ProtectionSteps.lock(table, KEEPS_OUT_ALL), addition(table)));
    }

    static List<String> warnings(DropColumns change) {
        return List.of(
                change.table() + PREPARED,
                change.table()
                        + ": the marks of all rows are gone for good, also after the rollback, whose columns begin at 0 and admit"
                        + " tokens that were stale before. End all work in row mode first, and let every lease end.");
    }

    /** What the undo of a step takes away for good. */
    static Optional<String> lossOfUndo(Step step) {
        return step.change() instanceof AddColumns columns && step.state() == Step.State.TO_DO
                ? Optional.of(
                        "WARNING: " + columns.table()
                                + ": this drops the columns with the marks of all rows, for good. Added again they"
                                + " begin at 0 and admit tokens that were stale before. End all work in row mode first, and let every lease end.")
                : Optional.empty();
    }

    private static TableLock lock(TableState table, String why) {
        return new TableLock(table.name(), KEEPS_OUT_ALL, "writers and readers wait", ProtectionSteps.held(table), why);
    }

    private static String described(TableState table) {
        return table.markColumns().stream().map(TableState.Column::described).collect(Collectors.joining(" and "));
    }

    // Without IF NOT EXISTS: what is there by then may be something else. A constant default is kept in the catalogue.
    private static String addition(TableState table) {
        return "ALTER TABLE " + table.name().quoted() + " ADD COLUMN " + TableState.TOKEN
                + " bigint NOT NULL DEFAULT 0, ADD COLUMN " + TableState.HOLDER + " uuid;";
    }

    // The text may run long after it was made, and on another database, where a column of this name is somebody else's
    // data.
    private static String check(TableState table) {
        return OURS_ARE_THERE.formatted(
                Identifiers.literal(table.name().asRegclass()),
                Identifiers.literal("Dropping " + NAMES + " of "
                        + Identifiers.oneLine(table.name().toString()) + " refused: they are not both there as "
                        + OURS),
                Identifiers.literal(THEIRS));
    }

    private static String removal(TableState table) {
        return "ALTER TABLE " + table.name().quoted() + " DROP COLUMN " + TableState.TOKEN + ", DROP COLUMN "
                + TableState.HOLDER + ";";
    }
}
