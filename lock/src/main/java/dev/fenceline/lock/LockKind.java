package dev.fenceline.lock;

/** Whether the grants of a lock carry a token. The same name is another lock in each kind. */
public enum LockKind {
    /** As of {@link dev.fenceline.Locks#fenced}: for data that a fence protects. */
    FENCED,
    /** As of {@link dev.fenceline.Locks#efficiency}: for work that may happen twice. */
    EFFICIENCY
}
