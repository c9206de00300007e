/**
 * The words of Fenceline: a lock hands out a token, and a fence refuses whoever's token is no longer the newest.
 *
 * <p>Start at {@link dev.fenceline.Locks}. What a fence promises, and on what assumptions, stands in
 * {@code docs/guarantees.md}. Parameters and results are never null unless annotated otherwise.
 */
@NullMarked
package dev.fenceline;

import org.jspecify.annotations.NullMarked;
