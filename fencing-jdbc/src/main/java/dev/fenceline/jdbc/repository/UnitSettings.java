package dev.fenceline.jdbc.repository;

import dev.fenceline.LockName;
import java.time.Duration;
import java.util.List;
import java.util.Optional;

/**
 * How units of a repository are opened.
 *
 * @param maxWait how long for the locks; else as the locks say
 * @param retries how often a unit is begun again
 * @param lockAtMost how many locks one unit may have
 */
record UnitSettings(Optional<Duration> maxWait, int retries, int lockAtMost) {

    static final UnitSettings DEFAULTS = new UnitSettings(Optional.empty(), 0, 100);

    void requireNotTooMany(List<LockName> locks, String what) {
        if (locks.isEmpty()) {
            throw new IllegalArgumentException(
                    what + " needs a lock and has none. Nothing was called; name what is read and written.");
        }
        if (locks.size() > lockAtMost) {
            throw new IllegalArgumentException(what + " has " + locks.size() + " locks, and at most " + lockAtMost
                    + " are taken together. Nothing was acquired. Work in smaller portions, use one lock for all of them"
                    + " (lockBy), or raise the limit (lockAtMost).");
        }
    }
}
