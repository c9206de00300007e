package dev.fenceline;

import java.util.Collection;
import java.util.List;

/**
 * Hands out locks over one connected lock service. Make one per process and keep it.
 *
 * <pre>{@code
 * try (Locks locks = RedisLocks.connect("redis://localhost:6379");
 *         FencedLease lease = locks.fenced(LockName.of("account", 42)).acquire()) {
 *     Claim<Connection> claim = fence.claim(lease);
 *     claim.inTransaction(connection -> ...);
 * }
 * }</pre>
 *
 * <p><b>Thread-safety:</b> any thread.
 */
public interface Locks extends AutoCloseable {

    /**
     * Returns the lock whose grants carry a fencing token.
     *
     * @param name what to lock
     * @return a cheap object; nothing is sent yet
     */
    FencedLock fenced(LockName name);

    /**
     * Returns several locks as one, to be taken in one order.
     *
     * @param names what to lock, in any order
     * @return a cheap object; nothing is sent yet
     * @throws IllegalArgumentException when there is no name, or one is there twice
     */
    default FencedLocks fencedAll(LockName... names) {
        return fencedAll(List.of(names));
    }

    /**
     * Returns several locks as one, to be taken in one order.
     *
     * @param names what to lock, in any order
     * @return a cheap object; nothing is sent yet
     * @throws IllegalArgumentException when there is no name, or one is there twice
     */
    FencedLocks fencedAll(Collection<LockName> names);

    /**
     * Returns the lock for work that may happen twice.
     *
     * @param name what to lock; as a fenced lock the same name is another lock
     * @return a cheap object; nothing is sent yet
     */
    EfficiencyLock efficiency(LockName name);

    /**
     * Releases every lease that was not closed, lost ones included, wakes waiters with {@link BackendUnavailableException},
     * and disconnects. Also runs when the JVM ends in an orderly way (SIGTERM, {@code System.exit}). Idempotent.
     *
     * <p><b>Blocking:</b> one command timeout at most.
     */
    @Override
    void close();
}
