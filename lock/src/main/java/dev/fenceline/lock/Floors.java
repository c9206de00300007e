package dev.fenceline.lock;

import dev.fenceline.LockName;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.locks.ReentrantLock;

/** The marks that refused us and that the next grants must pass. */
final class Floors {

    /** A floor that is forgotten costs one more refused claim, which brings it back. */
    private static final int MAX_NAMES = 10_000;

    private final ReentrantLock guard = new ReentrantLock();
    private final Map<LockName, Long> marks = new LinkedHashMap<>();

    /** As a rule there is no mark at all, and acquiring need not wait for the guard to learn that. */
    private volatile boolean any;

    void raise(LockName name, long mark) {
        guard.lock();
        try {
            any = true;
            marks.merge(name, mark, Math::max);
            if (marks.size() > MAX_NAMES) {
                marks.remove(marks.keySet().iterator().next());
            }
        } finally {
            guard.unlock();
        }
    }

    /** The mark to pass; 0 where every token will do. */
    long floor(LockName name) {
        if (!any) {
            return 0;
        }
        guard.lock();
        try {
            return marks.getOrDefault(name, 0L);
        } finally {
            guard.unlock();
        }
    }

    /** Forgets a mark, and lower ones, once a grant has passed it or a server has refused it. */
    void settle(LockName name, long mark) {
        if (!any) {
            return;
        }
        guard.lock();
        try {
            marks.computeIfPresent(name, (key, known) -> known <= mark ? null : known);
            any = !marks.isEmpty();
        } finally {
            guard.unlock();
        }
    }
}
