package dev.fenceline.migrations;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;

/** What it takes to add the columns of row mode, and to drop them. */
final class ColumnSteps {

    static final String KEEPS_OUT_ALL = "ACCESS EXCLUSIVE";

    private static final String NAMES = TableState.TOKEN + " and " + TableState.HOLDER;
    private static final String OURS =
            TableState.TOKEN + " bigint NOT NULL DEFAULT 0 and " + TableState.HOLDER + " uuid";
    private static final String PREPARED =
            ": a transaction that goes on with a SELECT * or RETURNING * that its connection has prepared before fails once with 0A000"
                    + " (cached plan must not change result type). Deploy when that is tolerable, or name the columns in old code first.";

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
                List.of(ProtectionSteps.lock(table, KEEPS_OUT_ALL), removal(table)));
    }

    static List<String> warnings(AddColumns change) {
        return List.of(
                change.table() + PREPARED,
                change.table()
                        + ": row mode does not stop old code. For a system that exists, enforced mode is the default: it refuses"
                        + " old writers and needs no columns.");
    }

    static List<Fault> faults(DropColumns change, TableState table) {
        List<Fault> faults = new ArrayList<>();
        if (!table.markColumns().isEmpty() && !table.hasMarkColumns()) {
            faults.add(new Fault(
                    table.name().toString(),
                    "it has " + described(table) + ", and row mode's own are " + OURS,
                    "What is there is somebody else's: drop it by hand, if it is to go."));
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
                List.of(ProtectionSteps.lock(table, KEEPS_OUT_ALL), removal(table)),
                List.of(ProtectionSteps.lock(table, KEEPS_OUT_ALL), addition(table)));
    }

    static List<String> warnings(DropColumns change) {
        return List.of(
                change.table() + PREPARED,
                change.table()
                        + ": the marks of all rows are gone for good, also after the rollback, whose columns begin at 0 and admit"
                        + " tokens that were stale before. End all work in row mode first, and let every lease end.");
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

    private static String removal(TableState table) {
        return "ALTER TABLE " + table.name().quoted() + " DROP COLUMN " + TableState.TOKEN + ", DROP COLUMN "
                + TableState.HOLDER + ";";
    }
}
