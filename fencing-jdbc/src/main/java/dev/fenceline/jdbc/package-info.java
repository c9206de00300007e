/** The fence in PostgreSQL. Start at {@code PostgresFence}, or {@code JdbiFence} for Jdbi. */
@NullMarked
package dev.fenceline.jdbc;

import org.jspecify.annotations.NullMarked;
