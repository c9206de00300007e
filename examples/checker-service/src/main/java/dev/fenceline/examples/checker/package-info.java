/** A service that only checks tokens: it fences with the core and PostgreSQL, and knows nothing of Redis. */
@NullMarked
package dev.fenceline.examples.checker;

import org.jspecify.annotations.NullMarked;
