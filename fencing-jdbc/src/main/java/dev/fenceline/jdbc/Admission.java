package dev.fenceline.jdbc;

/** Which mark of a row lets a statement write. */
enum Admission {
    /** The very token: after a claim nothing else is safe. */
    EQUAL,
    /** The very token or an older one: for a claim, and for a write that is not based on anything read. */
    RAISING
}
