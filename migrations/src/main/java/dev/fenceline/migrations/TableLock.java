package dev.fenceline.migrations;

/**
 * A lock that a step of a plan takes on a table of the user's.
 *
 * @param table which table
 * @param mode as PostgreSQL names it, such as {@code SHARE ROW EXCLUSIVE}
 * @param blocks who waits meanwhile
 * @param held for how long
 * @param why what needs it
 */
public record TableLock(TableName table, String mode, String blocks, String held, String why) {}
