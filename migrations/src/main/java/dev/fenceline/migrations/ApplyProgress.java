package dev.fenceline.migrations;

/**
 * What happens while a plan is applied.
 *
 * @param step which step
 * @param number its place in the plan, from 1
 * @param total how many steps the plan has
 * @param attempt the how-manieth transaction for this step, from 1; 0 where it needs none
 * @param stage what happened
 * @param detail for people, at {@link Stage#BLOCKED} and {@link Stage#FAILED}: what the server said and who was in the way; else empty
 */
public record ApplyProgress(Step step, int number, int total, int attempt, Stage stage, String detail) {

    /** What happened. */
    public enum Stage {
        /** An attempt begins: from now the table may be locked. */
        ATTEMPT,
        /** The attempt is committed, the step done. */
        CHANGED,
        /** There was nothing to do. */
        ALREADY_SO,
        /** The attempt got no lock in time, or lost a race or its connection; it was rolled back, and another one may follow. */
        BLOCKED,
        /** The server refuses the step; it was rolled back, and no other attempt follows. */
        FAILED
    }
}
