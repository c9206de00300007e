package dev.fenceline.migrations;

/**
 * What is to be done to one table of the user's. Changes are values; {@link FenceMigrations#plan(Change...)} looks what is there and says
 * what it takes.
 */
public sealed interface Change permits Protect, Unprotect, AddColumns, DropColumns {

    /**
     * Returns the table that is changed.
     *
     * @return with its schema
     */
    TableName table();
}
