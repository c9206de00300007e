package dev.fenceline;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CompletableFuture;

/**
 * The leases of several locks, taken in one order and released in the reverse one.
 *
 * <p>They are as many grants as there are locks: each is renewed and can be lost by itself, and each has its own token. Claim
 * with all of them before the first read.
 *
 * <p><b>Not guaranteed:</b> that what is written under several tokens is written together. A fence makes each resource safe by
 * itself, and is no atomic commit over two.
 */
public final class FencedLeases implements Hold {

    private final List<FencedLease> leases;

    FencedLeases(List<FencedLease> inOrder) {
        this.leases = List.copyOf(inOrder);
    }

    /**
     * Returns the lease of one lock.
     *
     * @param name one of the names that were acquired
     * @return its lease, to claim with
     * @throws IllegalArgumentException when this name was not acquired; the message says which were
     */
    public FencedLease lease(LockName name) {
        return leases.stream()
                .filter(lease -> lease.lock().equals(name))
                .findFirst()
                .orElseThrow(() -> new IllegalArgumentException("No lease of '" + name + "' here; acquired were "
                        + leases.stream().map(FencedLease::lock).toList() + "."));
    }

    /**
     * Returns all leases, in the order in which they were taken: that of their names.
     *
     * @return an unmodifiable list
     */
    public List<FencedLease> all() {
        return leases;
    }

    @Override
    public boolean isHeld() {
        return leases.stream().allMatch(FencedLease::isHeld);
    }

    @Override
    public Duration remaining() {
        return leases.stream()
                .map(FencedLease::remaining)
                .min(Duration::compareTo)
                .orElse(Duration.ZERO);
    }

    @Override
    public void requireHeld() {
        leases.forEach(FencedLease::requireHeld);
    }

    /**
     * Releases every lock that is still ours, the last taken first. Idempotent and quiet: a release that fails is reported once
     * to the listener and keeps no other from being sent.
     *
     * <p><b>Blocking:</b> one command timeout at most, for each lock. <b>Interruption:</b> the flag is kept.
     */
    @Override
    public void close() {
        lastFirst().forEach(FencedLease::close);
    }

    @Override
    public CompletableFuture<Void> closeAsync() {
        return CompletableFuture.allOf(
                lastFirst().stream().map(FencedLease::closeAsync).toArray(CompletableFuture<?>[]::new));
    }

    private List<FencedLease> lastFirst() {
        List<FencedLease> reversed = new ArrayList<>(leases);
        Collections.reverse(reversed);
        return reversed;
    }

    /** Names the locks. */
    @Override
    public String toString() {
        return "leases of " + leases.stream().map(FencedLease::lock).toList();
    }
}
