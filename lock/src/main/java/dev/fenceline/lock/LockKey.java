package dev.fenceline.lock;

import dev.fenceline.LockName;

/** One lock on a server. */
record LockKey(LockKind kind, LockName name) {}
