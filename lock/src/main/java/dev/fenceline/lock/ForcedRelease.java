package dev.fenceline.lock;

/** What became of a lock that was to be taken from its holder. */
public enum ForcedRelease {
    /** It was released; whoever was first in its queue has been given it. */
    RELEASED,
    /** Somebody else's grant is there by now, and was left as it is. Look again. */
    CHANGED,
    /** It was free already. */
    FREE
}
