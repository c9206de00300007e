/** Brings the fence schema into a PostgreSQL database. Start at {@code FenceMigrations}. */
@NullMarked
package dev.fenceline.migrations;

import org.jspecify.annotations.NullMarked;
