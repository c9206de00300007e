package dev.fenceline.jdbc.repository;

/** What a call of a method may do, and so what has to be around it. */
enum MethodKind {
    /** Writes what was computed from something that was read before. */
    IN_UNIT("no rule"),
    /** Writes nothing. */
    READS("reads"),
    /** Reads, computes and writes by itself. */
    SELF_CONTAINED("selfContained"),
    /** Writes what is computed from nothing that was read. */
    BLIND("blind"),
    /** Calls the others. */
    THROUGH_THE_OTHERS("default");

    private final String rule;

    MethodKind(String rule) {
        this.rule = rule;
    }

    String rule() {
        return rule;
    }

    /** Whether one call of it is a unit where there is none. */
    boolean opensUnit() {
        return this == SELF_CONTAINED || this == BLIND;
    }

    /** Whether it writes, so that its locks must be known. */
    boolean needsLocks() {
        return this == IN_UNIT || opensUnit();
    }
}
