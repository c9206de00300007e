package dev.fenceline.examples.pausedwriter;

/** How a pause is staged: where A is stopped, and what B has done when A wakes. */
enum Staging {
    /** B has read and written when A wakes. What any check of order catches. */
    B_FINISHES_FIRST("B finishes while A sleeps, then A writes what it had computed"),
    /** B has only read when A wakes and writes; then B writes. What a check of order cannot see. */
    B_HAS_ONLY_READ("B has only read when A wakes; A writes, then B"),
    /** The same, and A sleeps between its reading and its writing transaction, both under one claim. */
    BETWEEN_TRANSACTIONS("A sleeps between two transactions; B claims, reads; A wakes and writes, then B"),
    /** The same, and A sleeps inside one transaction, which holds the fence until the server ends it. */
    INSIDE_A_TRANSACTION("A sleeps inside its transaction; B claims, reads; A wakes and writes, then B");

    private final String title;

    Staging(String title) {
        this.title = title;
    }

    String title() {
        return title;
    }

    static Staging of(Mode mode, Scene scene) {
        if (scene == Scene.BULK) {
            throw new IllegalArgumentException("Nothing is staged in the bulk of the work.");
        }
        boolean first = scene == Scene.FIRST_PAUSE;
        if (mode == Mode.FENCED) {
            return first ? BETWEEN_TRANSACTIONS : INSIDE_A_TRANSACTION;
        }
        return first ? B_FINISHES_FIRST : B_HAS_ONLY_READ;
    }
}
