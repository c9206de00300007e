package dev.fenceline;

/**
 * What becomes of work under an {@link EfficiencyLock} when the lock server cannot be used. A choice between two harms, which
 * only the one who wrote the work can make.
 */
public enum WhenUnavailable {
    /** {@link BackendUnavailableException} is thrown, and the work is not begun. Also without any choice. */
    FAIL,
    /** The work is skipped, as if somebody else held the lock: no instance does it until the server is back. */
    SKIP,
    /** The work runs without a lock: every instance does it until the server is back. */
    RUN_ANYWAY
}
