package dev.fenceline.lock;

/** Whether grants carry a token. The same name is another lock in each kind. */
enum LockKind {
    FENCED,
    EFFICIENCY
}
