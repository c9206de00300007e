package dev.fenceline.examples.pausedwriter;

import org.jspecify.annotations.Nullable;

/** The database refused a write; nothing of its transaction happened. */
final class WriteRefused extends RuntimeException {

    private static final long serialVersionUID = 1L;

    private final String sql;

    WriteRefused(String sql, String message, @Nullable Throwable cause) {
        super(message, cause);
        this.sql = sql;
    }

    /** The statement that was to write, with its values. */
    String sql() {
        return sql;
    }
}
