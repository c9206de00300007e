/** One small program per use of Fenceline, and in {@code pausedwriter} the demo that shows why it is needed. */
@NullMarked
package dev.fenceline.examples;

import org.jspecify.annotations.NullMarked;
