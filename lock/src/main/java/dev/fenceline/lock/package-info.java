/** Redis locks whose grants carry a fencing token. Start at {@code RedisLocks}. */
@NullMarked
package dev.fenceline.lock;

import org.jspecify.annotations.NullMarked;
