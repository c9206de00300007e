package dev.fenceline.migrations;

import java.sql.SQLException;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.function.Supplier;

/** Compares changes with the catalogue: what there is to do, or all that is wrong with them. */
final class Planner {

    private final Catalogue catalogue;
    private final List<Fault> faults = new ArrayList<>();
    private final List<Step> steps = new ArrayList<>();
    private final List<String> warnings = new ArrayList<>();

    private Planner(Catalogue catalogue) {
        this.catalogue = catalogue;
    }

    /** What a plan consists of. */
    record Planned(List<Step> steps, List<String> warnings) {}

    static Planned plan(Catalogue catalogue, List<Change> changes) throws SQLException {
        catalogue.requireSchema();
        return steps(catalogue, changes);
    }

    /** What one change of a plan comes to by now. */
    static Step look(Catalogue catalogue, Change change) throws SQLException {
        return steps(catalogue, List.of(change)).steps().get(0);
    }

    private static Planned steps(Catalogue catalogue, List<Change> changes) throws SQLException {
        Planner planner = new Planner(catalogue);
        planner.requireOneOfAKind(changes);
        Map<TableName, Catalogue.Found> found =
                catalogue.look(changes.stream().map(Change::table).distinct().toList());
        for (Change change : changes) {
            planner.add(change, Objects.requireNonNull(found.get(change.table())));
        }
        if (!planner.faults.isEmpty()) {
            throw new PlanRefusedException(planner.faults);
        }
        return new Planned(List.copyOf(planner.steps), List.copyOf(planner.warnings));
    }

    private record Kind(TableName table, boolean columns) {}

    /** Each step is planned for the catalogue as it is, and not for what an earlier one makes of it. */
    private void requireOneOfAKind(List<Change> changes) {
        if (changes.isEmpty()) {
            throw new IllegalArgumentException("A plan needs changes, and none was given.");
        }
        Set<Kind> seen = new HashSet<>();
        for (Change change : changes) {
            boolean columns = change instanceof AddColumns || change instanceof DropColumns;
            if (!seen.add(new Kind(change.table(), columns))) {
                fault(
                        change,
                        columns ? "its columns are changed twice" : "its protection is changed twice",
                        "Name each table once, or make two plans.");
            }
        }
    }

    private void add(Change change, Catalogue.Found found) throws SQLException {
        if (found.table().isEmpty()) {
            fault(
                    change,
                    "there is no such table",
                    found.elsewhere().isEmpty()
                            ? "Name schema and table as SQL writes them, capitals in double quotes."
                            : "There is " + new TableName(found.elsewhere().get(0), change.table().name()) + ".");
            return;
        }
        TableState table = found.table().get();
        int before = faults.size();
        if (!table.owned()) {
            fault(
                    change,
                    "its owner is '" + table.owner() + "', and only the owner may change it",
                    "Connect as that role or as one of its members.");
        }
        if (!table.reachable()) {
            fault(
                    change,
                    "the role has no right on schema " + Identifiers.shown(change.table().schema()),
                    "GRANT USAGE ON SCHEMA " + Identifiers.shown(change.table().schema()) + " to it.");
        }
        if (change instanceof Protect protect) {
            catalogue.unprotectable(table, protect.key()).forEach(fault -> faults.add(withColumns(fault, table)));
            add(before, () -> ProtectionSteps.protect(protect, table), () -> ProtectionSteps.warnings(protect, table));
            return;
        }
        if (table.kind() == TableState.Kind.OTHER || table.kind() == TableState.Kind.PARTITION) {
            catalogue.unprotectable(table).ifPresent(faults::add);
        }
        if (change instanceof Unprotect unprotect) {
            add(before, () -> ProtectionSteps.unprotect(unprotect, table), () -> ProtectionSteps.warnings(unprotect, table));
        } else if (change instanceof AddColumns columns) {
            faults.addAll(ColumnSteps.faults(columns, table));
            add(before, () -> ColumnSteps.add(columns, table), () -> ColumnSteps.warnings(columns));
        } else if (change instanceof DropColumns columns) {
            faults.addAll(ColumnSteps.faults(columns, table));
            add(before, () -> ColumnSteps.drop(columns, table), () -> ColumnSteps.warnings(columns));
        }
    }

    private void add(int faultsBefore, Supplier<Step> step, Supplier<List<String>> warned) {
        if (faults.size() > faultsBefore) {
            return;
        }
        Step made = step.get();
        steps.add(made);
        if (made.state() == Step.State.TO_DO) {
            warnings.addAll(warned.get());
        }
    }

    private static Fault withColumns(Fault fault, TableState table) {
        if (!fault.problem().startsWith("it has no column ")) {
            return fault;
        }
        return new Fault(
                fault.table(),
                fault.problem() + "; it has "
                        + String.join(
                                ", ",
                                table.columns().stream()
                                        .map(column -> Identifiers.shown(column.name()))
                                        .toList()),
                fault.remedy());
    }

    private void fault(Change change, String problem, String remedy) {
        faults.add(new Fault(change.table().toString(), problem, remedy));
    }
}
