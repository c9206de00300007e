package dev.fenceline.migrations;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** What it takes to put the triggers on a table, to change them, and to take them off. */
final class ProtectionSteps {

    /** Creating and replacing triggers keeps out writers, and never readers. */
    private static final String KEEPS_OUT_WRITERS = "SHARE ROW EXCLUSIVE";

    private ProtectionSteps() {}

    static Step protect(Protect change, TableState table) {
        String wanted = change.mode().text() + " with locks " + change.locks() + exception(table);
        if (table.isProtectedAs(change)) {
            return done(change, wanted);
        }
        return new Step(
                change,
                Step.State.TO_DO,
                wanted + soFar(table),
                Optional.of(new TableLock(
                        table.name(),
                        KEEPS_OUT_WRITERS,
                        "writers wait, readers do not",
                        held(table),
                        "creates or replaces the triggers")),
                List.of(lock(table, KEEPS_OUT_WRITERS), call(change)),
                undo(table));
    }

    static Step unprotect(Unprotect change, TableState table) {
        return change.writers() == Unprotect.Writers.ALL
                ? unprotectForAll(change, table)
                : unprotectForSubscription(change, table);
    }

    private static Step unprotectForAll(Unprotect change, TableState table) {
        if (!table.isProtected()) {
            return done(change, "not protected");
        }
        return new Step(
                change,
                Step.State.TO_DO,
                "no longer protected" + soFar(table),
                Optional.of(new TableLock(
                        table.name(),
                        ColumnSteps.KEEPS_OUT_ALL,
                        "writers and readers wait",
                        held(table),
                        "drops the triggers")),
                List.of(lock(table, ColumnSteps.KEEPS_OUT_ALL), callUnprotect(table)),
                table.protectedAs()
                        .map(before -> List.of(lock(table, KEEPS_OUT_WRITERS), call(before)))
                        .orElse(List.of()));
    }

    private static Step unprotectForSubscription(Unprotect change, TableState table) {
        List<TableState.Trigger> always = table.triggers().stream()
                .filter(trigger -> trigger.enabled().filter(when -> when == 'A').isPresent())
                .toList();
        List<TableState.Other> others =
                table.others().stream().filter(other -> other.enabled() == 'A').toList();
        if (always.isEmpty() && others.isEmpty()) {
            return done(change, "fires for no apply worker");
        }
        return new Step(
                change,
                Step.State.TO_DO,
                "protected from all but the apply worker of a subscription" + soFar(table),
                Optional.of(new TableLock(
                        table.name(),
                        KEEPS_OUT_WRITERS,
                        "writers wait, readers do not",
                        held(table),
                        "switches the triggers")),
                Stream.concat(Stream.of(lock(table, KEEPS_OUT_WRITERS)), switched(table, always, others, "ENABLE"))
                        .toList(),
                Stream.concat(
                                Stream.of(lock(table, KEEPS_OUT_WRITERS)),
                                switched(table, always, others, "ENABLE ALWAYS"))
                        .toList());
    }

    /** A partition has its row triggers from its parent, and is switched with it; the one for TRUNCATE is its own. */
    private static Stream<String> switched(
            TableState table, List<TableState.Trigger> triggers, List<TableState.Other> others, String enable) {
        return Stream.concat(
                triggers.stream()
                        .filter(trigger -> trigger.event().equals("truncate")
                                || trigger.member().equals(table.name()))
                        .map(trigger -> "ALTER TABLE " + (trigger.event().equals("truncate") ? "ONLY " : "")
                                + trigger.member().quoted() + ' ' + enable + " TRIGGER " + trigger.name() + ';'),
                others.stream()
                        .map(other -> "ALTER TABLE " + other.member().quoted() + ' ' + enable + " TRIGGER "
                                + Identifiers.quoted(other.name()) + ';'));
    }

    /** Restores what was before: an observed table is observed again, whatever was asked for. */
    private static List<String> undo(TableState table) {
        if (!table.isProtected()) {
            return List.of(lock(table, ColumnSteps.KEEPS_OUT_ALL), callUnprotect(table));
        }
        return table.protectedAs()
                .map(before -> List.of(lock(table, KEEPS_OUT_WRITERS), call(before)))
                .orElse(List.of());
    }

    static List<String> warnings(Protect change, TableState table) {
        List<String> warnings = new ArrayList<>();
        String nullable = change.key().stream()
                .filter(name ->
                        table.column(name).filter(column -> !column.notNull()).isPresent())
                .map(Identifiers::shown)
                .collect(Collectors.joining(", "));
        if (!nullable.isEmpty()) {
            warnings.add(change.table() + ": key column " + nullable
                    + " may be NULL, and a row without a key has no lock: it "
                    + (change.mode() == Protect.Mode.ENFORCE
                            ? "is refused to everybody."
                            : "is recorded for everybody."));
        }
        if (change.mode() == Protect.Mode.ENFORCE
                && table.protectedAs()
                        .filter(before -> before.lockClass().equals(change.lockClass())
                                && before.key().equals(change.key()))
                        .isEmpty()) {
            warnings.add(
                    change.table()
                            + ": was not observed with these locks so far. Whoever writes it without them is refused from"
                            + " the moment that this is applied; observe first, and enforce when a full business cycle left no records.");
        }
        if (loosens(change, table)) {
            warnings.add(
                    change.table()
                            + ": is enforced so far. From now on whoever writes it without its lock passes, and is only recorded.");
        }
        if (table.hasMarkColumns() && !table.isProtected()) {
            warnings.add(change.table() + ": has the columns of row mode" + ColumnSteps.NOT_BOTH);
        }
        if (!table.subscriptions().isEmpty()) {
            warnings.add(change.table() + ": is filled by subscription " + String.join(", ", table.subscriptions())
                    + ", whose changes pass. When the subscription is dropped, protect the table again.");
        }
        warnings.addAll(lost(change, table));
        return warnings;
    }

    static List<String> warnings(Unprotect change, TableState table) {
        if (change.writers() == Unprotect.Writers.SUBSCRIPTION) {
            return table.subscriptions().isEmpty()
                    ? List.of(change.table()
                            + ": no subscription fills it. Sessions with session_replication_role = replica pass until"
                            + " it is protected again.")
                    : List.of();
        }
        List<String> warnings = new ArrayList<>();
        warnings.add(change.table()
                + ": dropping triggers waits for readers too, and keeps them waiting meanwhile; observe is the way"
                + " back that does not.");
        namesOfOthers(table)
                .ifPresent(
                        names -> warnings.add(
                                change.table() + ": drops trigger " + names
                                        + " too, which calls the fence's function under another name, and which the rollback does not bring back."));
        warnings.addAll(lost(change, table));
        return warnings;
    }

    /** Whether writers are refused so far and would pass from then on. */
    static boolean loosens(Protect change, TableState table) {
        return change.mode() == Protect.Mode.OBSERVE
                && table.protectedAs()
                        .filter(before -> before.mode() == Protect.Mode.ENFORCE)
                        .isPresent();
    }

    /** Triggers with our function that it did not make: unprotecting drops them too, and nothing can bring them back. */
    private static Optional<String> namesOfOthers(TableState table) {
        return table.others().isEmpty()
                ? Optional.empty()
                : Optional.of(table.others().stream()
                        .map(other -> Identifiers.shown(other.name()) + " on " + other.member())
                        .collect(Collectors.joining(", ")));
    }

    private static List<String> lost(Change change, TableState table) {
        return table.said().size() > 1
                ? List.of(change.table()
                        + ": its triggers do not agree on what they protect, so the rollback leaves them as they are"
                        + " made here.")
                : List.of();
    }

    private static Step done(Change change, String summary) {
        return new Step(change, Step.State.ALREADY_SO, summary, Optional.empty(), List.of(), List.of());
    }

    private static String soFar(TableState table) {
        if (!table.isProtected()) {
            return "";
        }
        return table.protectedAs()
                .map(before -> "; so far " + before.mode().text() + " with locks " + before.locks()
                        + (table.isProtectedAs(before) ? "" : ", not all triggers as they must be"))
                .orElseGet(() -> table.said().isEmpty()
                        ? namesOfOthers(table)
                                .map(names -> "; so far judged by trigger " + names + ", which the fence has not made")
                                .orElse("; so far not all triggers as they must be")
                        : "; its triggers do not agree so far");
    }

    private static String exception(TableState table) {
        return table.subscriptions().isEmpty()
                ? ""
                : ", but for subscription " + Identifiers.oneLine(String.join(", ", table.subscriptions()));
    }

    static String held(TableState table) {
        return "until its transaction ends: some milliseconds"
                + (table.partitions() == 0
                        ? ""
                        : " for the table and each of its " + table.partitions() + " partitions");
    }

    static String lock(TableState table, String mode) {
        return "LOCK TABLE " + table.name().quoted() + " IN " + mode + " MODE;";
    }

    private static String call(Protect change) {
        String key = change.key().isEmpty()
                ? "'{}'"
                : change.key().stream().map(Identifiers::literal).collect(Collectors.joining(", ", "ARRAY[", "]"));
        return "PERFORM fenceline.protect(" + Identifiers.literal(change.table().asRegclass()) + ", "
                + Identifiers.literal(change.lockClass()) + ", " + key + ", '"
                + change.mode().text() + "');";
    }

    private static String callUnprotect(TableState table) {
        return "PERFORM fenceline.unprotect(" + Identifiers.literal(table.name().asRegclass()) + ");";
    }
}
