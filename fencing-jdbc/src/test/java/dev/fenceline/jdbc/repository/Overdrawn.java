package dev.fenceline.jdbc.repository;

/** A checked exception of the repository's own. */
final class Overdrawn extends Exception {

    private static final long serialVersionUID = 1L;

    Overdrawn(long balance) {
        super("only " + balance + " left");
    }
}
