package dev.fenceline.jdbc;

import java.sql.SQLException;

/** A statement failed. Carries what the driver said, and the exception that the user is to see if it means nothing to us. */
final class StatementFailed extends Exception {

    private static final long serialVersionUID = 1L;

    private final Exception original;
    private final SQLException said;

    StatementFailed(Exception original, SQLException said) {
        super(said);
        this.original = original;
        this.said = said;
    }

    SQLException said() {
        return said;
    }

    /** Returns the exception of a library whose exceptions are unchecked. */
    RuntimeException unchecked() {
        return original instanceof RuntimeException unchecked ? unchecked : new IllegalStateException(original);
    }
}
