/** The command {@code fenceline}: installs, protects, verifies and operates fences and locks. Begin at {@link dev.fenceline.cli.Fenceline}. */
@NullMarked
package dev.fenceline.cli;

import org.jspecify.annotations.NullMarked;
