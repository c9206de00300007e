/** Redis locks whose grants carry a fencing token. Start at {@code RedisLocks}, or at {@code Redlock} for independent masters. */
@NullMarked
package dev.fenceline.lock;

import org.jspecify.annotations.NullMarked;
