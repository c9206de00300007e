package dev.fenceline.migrations;

import java.util.List;

/**
 * What became of each step of a plan.
 *
 * @param steps in the order of the plan
 */
public record Applied(List<AppliedStep> steps) {

    /** Keeps a copy. */
    public Applied {
        steps = List.copyOf(steps);
    }

    /**
     * One step.
     *
     * @param step what there was to do
     * @param outcome what became of it
     * @param attempts how many transactions were begun for it; none where it was so already
     * @param detail why it is not done, for people: what the server said last, and who was in the way; empty when it is done
     */
    public record AppliedStep(Step step, Outcome outcome, int attempts, String detail) {}

    /** What became of a step. */
    public enum Outcome {
        /** Done now, and committed. */
        CHANGED,
        /** There was nothing to do. */
        ALREADY_SO,
        /** Not done; nothing of it was left behind. */
        NOT_DONE
    }

    /**
     * Returns the steps with an outcome.
     *
     * @param outcome which
     * @return in the order of the plan
     */
    public List<AppliedStep> with(Outcome outcome) {
        return steps.stream().filter(step -> step.outcome() == outcome).toList();
    }
}
