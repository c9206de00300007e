package dev.fenceline.migrations;

import dev.fenceline.UnfinishedException;
import org.jspecify.annotations.Nullable;

/** A plan was applied in part, or not at all. What is done stays; applying a new plan of the same changes finishes it. */
public final class PlanUnfinishedException extends UnfinishedException {

    private static final long serialVersionUID = 1L;

    private final transient Applied applied;

    PlanUnfinishedException(String message, Applied applied, @Nullable Throwable cause) {
        super(message, cause);
        this.applied = applied;
    }

    /**
     * Returns what became of each step.
     *
     * @return at least one of them is not done
     */
    public Applied applied() {
        return applied;
    }
}
