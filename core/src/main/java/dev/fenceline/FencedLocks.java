package dev.fenceline;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;

/**
 * Several locks taken as one: two accounts for a transfer.
 *
 * <p>They are taken one after the other in the order of their names, whatever order the caller gave, and so two callers never
 * wait for each other in a circle. When one of them cannot be had, those before it are released before this is told.
 *
 * <p><b>Guarantees:</b> no deadlock among those who take several locks through this type only. Whoever holds one of these locks
 * already and then asks for several is outside of that, and ends at the wait limit.
 *
 * <p><b>Not guaranteed:</b> that all are granted at one instant: the first is held while the last is waited for.
 *
 * <p><b>Blocking:</b> the wait limit is for all of them together; one command timeout for each lock comes on top, and one for
 * each lock that has to be released.
 *
 * <p><b>Thread-safety:</b> immutable.
 */
public final class FencedLocks implements Exclusion<FencedLeases> {

    /** As for one lock; far below what nanoseconds in 64 bits can count. */
    private static final Duration LONGEST_WAIT = Duration.ofDays(366);

    private final List<FencedLock> locks;
    private final Duration maxWait;

    private FencedLocks(List<FencedLock> inOrder, Duration maxWait) {
        this.locks = inOrder;
        this.maxWait = maxWait;
    }

    /**
     * Combines locks. Users call {@link Locks#fencedAll(LockName...)}; this is for those who build a lock service.
     *
     * @param locks in any order
     * @param maxWait how long {@link #acquire()} waits, for all of them together
     * @return the locks as one
     * @throws IllegalArgumentException when there is no lock, or one name is there twice; the message names it
     */
    public static FencedLocks of(Collection<? extends FencedLock> locks, Duration maxWait) {
        List<FencedLock> inOrder = new ArrayList<>(locks);
        if (inOrder.isEmpty()) {
            throw new IllegalArgumentException("No lock names given: name at least one lock to take.");
        }
        inOrder.sort(Comparator.comparing(FencedLock::name));
        for (int i = 1; i < inOrder.size(); i++) {
            LockName name = inOrder.get(i).name();
            if (name.equals(inOrder.get(i - 1).name())) {
                throw new IllegalArgumentException("Lock '" + name + "' is named twice. Locks are not reentrant, so the"
                        + " second grant would wait for the first; is this a transfer from an account to itself?");
            }
        }
        return new FencedLocks(List.copyOf(inOrder), checked(maxWait));
    }

    /**
     * Returns what is locked, in the order in which it is.
     *
     * @return the names, sorted
     */
    public List<LockName> names() {
        return locks.stream().map(FencedLock::name).toList();
    }

    /**
     * Has the next grants of one of these locks, in this process, pass a mark that refused us; see {@link FencedLock#raiseFloor}.
     *
     * @param mark what the resource has admitted
     * @throws TokenRejectedException when the mark belongs to none of these locks
     */
    public void raiseFloor(FencingToken mark) {
        locks.stream()
                .filter(lock -> lock.name().equals(mark.lock()))
                .findFirst()
                .orElseThrow(() -> TokenRejectedException.otherLock(locks.get(0).name(), mark))
                .raiseFloor(mark);
    }

    @Override
    public Optional<FencedLeases> tryAcquire() {
        List<FencedLease> taken = new ArrayList<>();
        try {
            for (FencedLock lock : locks) {
                Optional<FencedLease> lease = lock.tryAcquire();
                if (lease.isEmpty()) {
                    giveBack(taken);
                    return Optional.empty();
                }
                taken.add(lease.get());
            }
            return Optional.of(new FencedLeases(taken));
        } catch (RuntimeException | Error e) {
            giveBack(taken);
            throw e;
        }
    }

    @Override
    public FencedLeases acquire() throws InterruptedException {
        return acquireWithin(maxWait);
    }

    @Override
    public FencedLeases acquireWithin(Duration limit) throws InterruptedException {
        Deadline deadline = Deadline.after(checked(limit));
        List<FencedLease> taken = new ArrayList<>();
        try {
            for (FencedLock lock : locks) {
                taken.add(lock.acquireWithin(deadline.left()));
            }
            return new FencedLeases(taken);
        } catch (InterruptedException | RuntimeException | Error e) {
            giveBack(taken);
            throw e;
        }
    }

    @Override
    public CompletableFuture<Optional<FencedLeases>> tryAcquireAsync() {
        return new FencedLocksWalk<Optional<FencedLease>, Optional<FencedLeases>>(
                        locks, FencedLock::tryAcquireAsync, lease -> lease, leases -> leases)
                .start();
    }

    @Override
    public CompletableFuture<FencedLeases> acquireAsync() {
        return acquireAsync(maxWait);
    }

    @Override
    public CompletableFuture<FencedLeases> acquireAsync(Duration limit) {
        Deadline deadline = Deadline.after(checked(limit));
        return new FencedLocksWalk<FencedLease, FencedLeases>(
                        locks, lock -> lock.acquireAsync(deadline.left()), Optional::of, Optional::orElseThrow)
                .start();
    }

    private static void giveBack(List<FencedLease> taken) {
        new FencedLeases(taken).close();
    }

    private static Duration checked(Duration limit) {
        if (limit.isNegative() || limit.compareTo(LONGEST_WAIT) > 0) {
            throw new IllegalArgumentException("maxWait of " + Durations.text(limit)
                    + " for several locks is not between zero, which tries once, and " + LONGEST_WAIT.toDays()
                    + " days.");
        }
        return limit;
    }

    /** When the wait for all of them is over. */
    private record Deadline(long nano) {

        static Deadline after(Duration limit) {
            return new Deadline(System.nanoTime() + limit.toNanos());
        }

        Duration left() {
            return Duration.ofNanos(Math.max(0, nano - System.nanoTime()));
        }
    }

    /** Names the locks. */
    @Override
    public String toString() {
        return "locks " + names();
    }
}
