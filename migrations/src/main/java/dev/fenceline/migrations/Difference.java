package dev.fenceline.migrations;

/**
 * One way in which a database is not as it was declared, or as this release has installed it.
 *
 * <p><b>Thread-safety:</b> immutable.
 *
 * @param subject what was looked at: a table, or a part of the fence schema
 * @param expected what it should be
 * @param found what it is
 * @param remedy what to do, in sentences of its own
 */
public record Difference(String subject, String expected, String found, String remedy) {

    /** Returns the whole in one line. */
    @Override
    public String toString() {
        return subject + ": expected " + expected + ", found " + found + ". " + remedy;
    }
}
