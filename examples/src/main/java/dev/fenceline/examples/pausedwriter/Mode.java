package dev.fenceline.examples.pausedwriter;

/** The three runs. All hold the same kind of Redis lock, with real tokens; they differ in what the database checks. */
enum Mode {
    /** The database takes every write: only the lock stands between the writers. */
    NO_CHECK("no_check", "no check", "Both writers take the lock. The database checks nothing."),
    /** The folklore: a write carries its token, and the row refuses one that is lower than the last. */
    NOT_LOWER(
            "not_lower",
            ">= only",
            "Each write carries its token; the row refuses a token lower than the last one written."),
    /** Fenceline: the token is claimed before the first read, and every transaction checks that the claim is still ours. */
    FENCED("fenced", "Fenceline", "Each writer claims the fence before it reads; each transaction enters by equality.");

    private final String schema;
    private final String title;
    private final String explanation;

    Mode(String schema, String title, String explanation) {
        this.schema = schema;
        this.title = title;
        this.explanation = explanation;
    }

    /** The database schema with this run's tables; also part of its lock names, so that no run sees another. */
    String schema() {
        return schema;
    }

    String title() {
        return title;
    }

    String explanation() {
        return explanation;
    }
}
