package dev.fenceline.migrations;

import java.util.List;
import java.util.Optional;

/**
 * One change as the catalogue has it: what there is to do.
 *
 * @param change what was asked for
 * @param state whether it is so already
 * @param summary one line for people, without the table's name
 * @param lock what it locks; empty when there is nothing to do
 * @param statements lines of SQL as the body of a {@code DO} statement has them; none when there is nothing to do
 * @param undo lines of SQL that restore what the catalogue had when the plan was made; none when there is nothing to do
 */
public record Step(
        Change change,
        State state,
        String summary,
        Optional<TableLock> lock,
        List<String> statements,
        List<String> undo) {

    /** Whether there is anything to do. */
    public enum State {
        /** The catalogue differs from what was asked for. */
        TO_DO,
        /** It is so already. */
        ALREADY_SO
    }

    /** Keeps copies. */
    public Step {
        statements = List.copyOf(statements);
        undo = List.copyOf(undo);
    }

    /** Returns one line for people. */
    @Override
    public String toString() {
        return change.table() + ": " + summary + (state == State.ALREADY_SO ? " (already so)" : "");
    }
}
