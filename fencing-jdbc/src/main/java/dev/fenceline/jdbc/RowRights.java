package dev.fenceline.jdbc;

import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * The rights on its table that a statement of row mode needs. The server says only that a right on the table is missing; which one
 * is found out afterwards, from the catalog.
 */
final class RowRights {

    private static final List<String> MARK = List.of(FencedTable.TOKEN, FencedTable.HOLDER);

    private final String step;
    private final boolean wholeRow;
    private final boolean deletes;
    private final Set<String> selected = new LinkedHashSet<>();
    private final Set<String> inserted = new LinkedHashSet<>();
    private final Set<String> updated = new LinkedHashSet<>();

    private RowRights(String step, boolean wholeRow, boolean deletes) {
        this.step = step;
        this.wholeRow = wholeRow;
        this.deletes = deletes;
    }

    /** For what returns the row and writes its mark, or locks it. */
    static RowRights toClaim(String step) {
        RowRights rights = new RowRights(step, true, false);
        rights.updated.addAll(MARK);
        return rights;
    }

    static RowRights toRead(String step) {
        return new RowRights(step, true, false);
    }

    static RowRights toWrite(RowForm form, FencedTable<?> table, List<String> columns, Admission admission) {
        RowRights rights = new RowRights(form.step(), false, form == RowForm.DELETE);
        if (form != RowForm.INSERT) {
            rights.selected.addAll(table.keyColumns());
            rights.selected.addAll(MARK);
        }
        if (form == RowForm.INSERT || form == RowForm.UPSERT) {
            rights.inserted.addAll(table.keyColumns());
            rights.inserted.addAll(columns);
            rights.inserted.addAll(MARK);
        }
        if (form == RowForm.UPDATE || form == RowForm.UPSERT) {
            rights.updated.addAll(columns);
            if (form == RowForm.UPSERT || admission == Admission.RAISING) {
                rights.updated.addAll(MARK);
            }
        }
        return rights;
    }

    /** Says what is missing and what to grant; empty where the role has all that this needs, and something else was refused. */
    Optional<String> missing(FencedTable<?> table, TableShape shape) {
        List<String> lacks = new ArrayList<>();
        List<String> grants = new ArrayList<>();
        if (wholeRow && !absent(shape, shape.columns().keySet(), "SELECT").isEmpty()) {
            lacks.add("SELECT on all of its columns");
            grants.add("SELECT");
        }
        lacking(shape, selected, "SELECT", lacks, grants);
        lacking(shape, inserted, "INSERT", lacks, grants);
        lacking(shape, updated, "UPDATE", lacks, grants);
        if (deletes && !shape.mayDelete()) {
            lacks.add("DELETE");
            grants.add("DELETE");
        }
        return lacks.isEmpty()
                ? Optional.empty()
                : Optional.of(step + " needs rights that the role '" + shape.role() + "' lacks: "
                        + String.join(", and ", lacks) + ". As its owner, run: GRANT " + String.join(", ", grants)
                        + " ON "
                        + table + " TO " + FencedTable.quoted(shape.role()));
    }

    private static void lacking(
            TableShape shape, Set<String> needed, String right, List<String> lacks, List<String> grants) {
        List<String> absent = absent(shape, needed, right);
        if (!absent.isEmpty()) {
            lacks.add(right + " on " + absent);
            grants.add(right + " (" + absent.stream().map(FencedTable::quoted).collect(Collectors.joining(", ")) + ")");
        }
    }

    /** Of a column that there is not, the server says so itself. */
    private static List<String> absent(TableShape shape, Set<String> needed, String right) {
        return needed.stream()
                .filter(column -> {
                    TableShape.Column found = shape.columns().get(column);
                    return found != null && !found.rights().contains(right);
                })
                .toList();
    }
}
