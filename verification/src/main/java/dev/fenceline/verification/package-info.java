/** Checks over the whole of Fenceline: what ran and was skipped, models, and runs across modules. Not published. */
@NullMarked
package dev.fenceline.verification;

import org.jspecify.annotations.NullMarked;
