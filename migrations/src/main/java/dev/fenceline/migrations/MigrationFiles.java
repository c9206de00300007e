package dev.fenceline.migrations;

import java.nio.file.Path;

/**
 * The two files that a plan was written to.
 *
 * @param migration makes the changes, such as {@code V48__fence_orders.sql}
 * @param undo restores what was before, such as {@code U48__fence_orders.sql}
 */
public record MigrationFiles(Path migration, Path undo) {}
