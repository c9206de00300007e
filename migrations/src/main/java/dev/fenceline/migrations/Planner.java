package dev.fenceline.migrations;

import java.sql.SQLException;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;

/** Compares changes with the catalogue: what there is to do, or all that is wrong with them. */
final class Planner {

    private static final String NO_COLUMN = "it has no column ";

    private Planner() {}

    /** What a plan consists of. */
    record Planned(List<Step> steps, List<String> warnings, List<TableName> loosened) {}

    /**
     * What one change comes to.
     *
     * @param step empty when there are faults
     */
    record Judged(Optional<Step> step, List<Fault> faults, List<String> warnings) {

        private static Judged faulty(List<Fault> faults) {
            return new Judged(Optional.empty(), faults, List.of());
        }

        private static Judged of(Step step, List<String> warnings) {
            return new Judged(Optional.of(step), List.of(), step.state() == Step.State.TO_DO ? warnings : List.of());
        }
    }

    static Planned plan(Catalogue catalogue, List<Change> changes, Wording wording) throws SQLException {
        if (changes.isEmpty()) {
            throw new IllegalArgumentException("A plan needs changes, and none was given.");
        }
        catalogue.requireSchema(wording);
        List<Fault> faults = new ArrayList<>(namedTwice(changes));
        Map<TableName, Catalogue.Found> found = look(catalogue, changes);
        List<Step> steps = new ArrayList<>();
        List<String> warnings = new ArrayList<>();
        List<TableName> loosened = new ArrayList<>();
        for (Change change : changes) {
            Catalogue.Found table = Objects.requireNonNull(found.get(change.table()));
            Optional<Fault> notTheirs =
                    isForUsersTables(change) ? change.table().notTheirs() : Optional.empty();
            Judged judged;
            if (notTheirs.isPresent()) {
                judged = Judged.faulty(List.of(notTheirs.get()));
            } else {
                List<Fault> refused = new ArrayList<>();
                if (table.table().isPresent()) {
                    refused.addAll(refusals(catalogue, change, table.table().get()));
                }
                judged = judge(change, table, refused);
            }
            judged.step().ifPresent(steps::add);
            faults.addAll(judged.faults());
            warnings.addAll(judged.warnings());
            if (change instanceof Protect protect
                    && table.table()
                            .filter(state -> ProtectionSteps.loosens(protect, state))
                            .isPresent()) {
                loosened.add(change.table());
            }
        }
        if (!faults.isEmpty()) {
            throw new PlanRefusedException(faults);
        }
        return new Planned(List.copyOf(steps), List.copyOf(warnings), List.copyOf(loosened));
    }

    /** What takes something off a table is the way back for whoever has put it on the fence's own by hand. */
    private static boolean isForUsersTables(Change change) {
        return change instanceof Protect || change instanceof AddColumns;
    }

    /** What changes of a plan come to by now. What the database refuses anyhow, it is not asked for in advance. */
    static List<Judged> again(Catalogue catalogue, List<Change> changes) throws SQLException {
        Map<TableName, Catalogue.Found> found = look(catalogue, changes);
        return changes.stream()
                .map(change -> judge(change, Objects.requireNonNull(found.get(change.table())), List.of()))
                .toList();
    }

    private static Map<TableName, Catalogue.Found> look(Catalogue catalogue, List<Change> changes) throws SQLException {
        return catalogue.look(changes.stream().map(Change::table).distinct().toList());
    }

    private record Kind(TableName table, boolean columns) {}

    /** Each step is planned for the catalogue as it is, and not for what an earlier one makes of it. */
    private static List<Fault> namedTwice(List<Change> changes) {
        List<Fault> faults = new ArrayList<>();
        Set<Kind> seen = new HashSet<>();
        for (Change change : changes) {
            boolean columns = change instanceof AddColumns || change instanceof DropColumns;
            if (!seen.add(new Kind(change.table(), columns))) {
                faults.add(new Fault(
                        change.table().toString(),
                        columns ? "its columns are changed twice" : "its protection is changed twice",
                        "Name each table once, or make two plans."));
            }
        }
        return faults;
    }

    /** What the database itself would say. */
    private static List<Fault> refusals(Catalogue catalogue, Change change, TableState table) throws SQLException {
        if (change instanceof Protect protect) {
            return catalogue.unprotectable(table, protect.key()).stream()
                    .map(fault -> withColumns(fault, table))
                    .toList();
        }
        if (table.kind() == TableState.Kind.OTHER || table.kind() == TableState.Kind.PARTITION) {
            return catalogue.unprotectable(table).stream().toList();
        }
        return List.of();
    }

    private static Fault withColumns(Fault fault, TableState table) {
        if (!fault.problem().startsWith(NO_COLUMN)) {
            return fault;
        }
        List<String> columns = table.columns().stream()
                .map(column -> Identifiers.shown(column.name()))
                .toList();
        String wanted = fault.problem().substring(NO_COLUMN.length());
        String remedy = columns.stream()
                .filter(column -> unquoted(column).equalsIgnoreCase(unquoted(wanted)))
                .findFirst()
                .map(Planner::meant)
                .orElse(fault.remedy());
        return new Fault(fault.table(), fault.problem() + "; it has " + String.join(", ", columns), remedy);
    }

    private static String unquoted(String name) {
        return name.startsWith("\"") ? name.substring(1, name.length() - 1).replace("\"\"", "\"") : name;
    }

    /** A name that is there, for somebody who has written it in another way. */
    private static String meant(String shown) {
        return "There is " + shown
                + (shown.contains("\"")
                        ? ", which is written in double quotes, and in a shell in single ones around them: '"
                                + shown.replace("'", "'\\''") + "'."
                        : ".");
    }

    private static Judged judge(Change change, Catalogue.Found found, List<Fault> refused) {
        if (found.table().isEmpty()) {
            return Judged.faulty(List.of(new Fault(
                    change.table().toString(),
                    "there is no such table",
                    found.elsewhere().isEmpty()
                            ? "Name schema and table as SQL writes them, capitals in double quotes."
                            : meant(found.elsewhere().get(0).toString()))));
        }
        TableState table = found.table().get();
        List<Fault> faults = new ArrayList<>(withoutRights(change.table(), table));
        faults.addAll(refused);
        if (change instanceof AddColumns columns) {
            faults.addAll(ColumnSteps.faults(columns, table));
        } else if (change instanceof DropColumns columns) {
            faults.addAll(ColumnSteps.faults(columns, table));
        }
        return faults.isEmpty() ? step(change, table) : Judged.faulty(faults);
    }

    private static List<Fault> withoutRights(TableName name, TableState table) {
        List<Fault> faults = new ArrayList<>();
        if (!table.owned()) {
            faults.add(new Fault(
                    name.toString(),
                    "its owner is '" + table.owner() + "', and only the owner may change it",
                    "Connect as that role or as one of its members."));
        }
        if (!table.reachable()) {
            String schema = Identifiers.shown(name.schema());
            faults.add(new Fault(
                    name.toString(),
                    "the role has no right on schema " + schema,
                    "GRANT USAGE ON SCHEMA " + schema + " to it."));
        }
        return faults;
    }

    private static Judged step(Change change, TableState table) {
        if (change instanceof Protect protect) {
            return Judged.of(ProtectionSteps.protect(protect, table), ProtectionSteps.warnings(protect, table));
        }
        if (change instanceof Unprotect unprotect) {
            return Judged.of(ProtectionSteps.unprotect(unprotect, table), ProtectionSteps.warnings(unprotect, table));
        }
        if (change instanceof AddColumns columns) {
            return Judged.of(ColumnSteps.add(columns, table), ColumnSteps.warnings(columns, table));
        }
        DropColumns columns = (DropColumns) change;
        return Judged.of(ColumnSteps.drop(columns, table), ColumnSteps.warnings(columns));
    }
}
