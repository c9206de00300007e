package dev.fenceline.migrations;

import java.util.List;
import java.util.Optional;

/**
 * Names a table without doubt: with its schema, and spelled as the catalogue does.
 *
 * <p><b>Thread-safety:</b> immutable.
 *
 * @param schema the schema, unquoted
 * @param name the table in it, unquoted
 */
public record TableName(String schema, String name) {

    private static final String WHAT = "Table name";

    /**
     * Checks both.
     *
     * @throws IllegalArgumentException when one is empty, or longer than the 63 bytes that PostgreSQL keeps
     */
    public TableName {
        Identifiers.checked(schema, WHAT);
        Identifiers.checked(name, WHAT);
    }

    /**
     * Reads a name as SQL writes it: {@code app.order} and {@code App.Order} are one table, {@code app."Order"} is another.
     *
     * @param text the name; where it has no schema, that is {@code public}, whatever the search_path
     * @return the table
     * @throws IllegalArgumentException when SQL would not read it; the message says where
     */
    public static TableName parse(String text) {
        List<String> parts = Identifiers.parse(text, WHAT);
        if (parts.size() > 2) {
            throw new IllegalArgumentException(WHAT + " '" + Identifiers.oneLine(text) + "' has " + parts.size()
                    + " parts. Name schema and table; a dot within a name is written in double quotes.");
        }
        return parts.size() == 1 ? new TableName("public", parts.get(0)) : new TableName(parts.get(0), parts.get(1));
    }

    /** Why no table of this schema is to be touched, as {@code fenceline.require_protectable_v1} has it; empty for a user's own. */
    Optional<Fault> notTheirs() {
        String owner = schema.equals("fenceline")
                ? "the fence's"
                : schema.equals("information_schema") || schema.startsWith("pg_") ? "PostgreSQL's" : "";
        return owner.isEmpty()
                ? Optional.empty()
                : Optional.of(
                        new Fault(toString(), "it is " + owner + " own", "Protect the tables that hold your rows."));
    }

    /** For statements, always in quotes. */
    String quoted() {
        return Identifiers.quoted(schema) + '.' + Identifiers.quoted(name);
    }

    /** For the input of regclass, which knows no escapes. */
    String asRegclass() {
        return Identifiers.inQuotes(schema) + '.' + Identifiers.inQuotes(name);
    }

    /** Returns the name as SQL writes it, in quotes where it must be. */
    @Override
    public String toString() {
        return Identifiers.shown(schema) + '.' + Identifiers.shown(name);
    }
}
