package dev.fenceline.testkit;

import dev.fenceline.FencingToken;
import dev.fenceline.HolderProcess;
import dev.fenceline.LockName;
import dev.fenceline.LockOptions;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;

/** The grants of {@link ModelLocks}, and the ways in which lock services get them wrong. Its monitor guards everything. */
final class ModelServer {

    /** What is wrong with it. */
    enum Flaw {
        NONE,
        /** A held lock is granted again. */
        GRANTS_TWICE,
        /** The kind of lock is not part of the key. */
        ONE_KEY_FOR_BOTH_KINDS,
        /** The parts of a name are not part of the key. */
        CLASS_ALONE_IS_THE_KEY,
        /** Tokens fall back to the clock's seconds and repeat. */
        TOKENS_REPEAT,
        /** A process has one holder id. */
        HOLDER_PER_PROCESS,
        /** Anybody's release frees the lock. */
        RELEASE_IGNORES_HOLDER,
        /** A renewal takes the lock back from its new holder. */
        RENEWAL_IGNORES_HOLDER,
        /** A release is only a hint; the lock stays until the lease has passed. */
        RELEASE_WAITS_FOR_THE_LEASE,
        /** Nobody renews. */
        NO_RENEWAL,
        /** A lost lease is reported at every look. */
        LOSS_IS_TOLD_TWICE,
        /** A lost lease is never reported. */
        LOSS_IS_NOT_TOLD,
        /** A released lease is reported as lost. */
        CLOSE_COUNTS_AS_LOSS,
        /** Closing the locks leaves the leases. */
        CLOSE_FORGETS_LEASES,
        /** Closing the locks leaves the waiters. */
        CLOSE_WAKES_NOBODY,
        /** An interrupted waiter's request is carried out all the same. */
        INTERRUPT_LEAVES_A_GRANT,
        /** A wait takes longer than its limit. */
        OVERRUNS_THE_WAIT_LIMIT,
        /** The error does not know the holder. */
        HOLDER_UNKNOWN,
        /** The floor is ignored. */
        NO_FLOOR,
        /** The floor of one lock moves the counter of all. */
        FLOOR_FOR_ALL,
        /** A cancelled future's request is carried out all the same. */
        CANCEL_LEAVES_A_GRANT,
        /** Each future has a thread that waits. */
        FUTURES_HOLD_THREADS,
        /** What depends on a future runs where leases are renewed and requests are answered. */
        STAGES_RUN_ON_OUR_THREAD,
        /** The least time is forgotten. */
        LEAST_TIME_IS_IGNORED,
        /** The least time begins with the release. */
        LEAST_TIME_FROM_THE_RELEASE,
        /** Closed locks count as an outage. */
        CLOSED_IS_AN_OUTAGE
    }

    private record Grant(UUID holder, long endNanos, HolderProcess process) {}

    private static final UUID PROCESS = UUID.randomUUID();

    private final Flaw flaw;
    private final Map<String, Grant> grants = new HashMap<>();
    private final Map<String, Long> floors = new HashMap<>();
    private long counter;

    ModelServer(Flaw flaw) {
        this.flaw = flaw;
    }

    Flaw flaw() {
        return flaw;
    }

    String key(String prefix, String kind, LockName name) {
        return prefix + "|" + (flaw == Flaw.ONE_KEY_FOR_BOTH_KINDS ? "" : kind) + "|"
                + (flaw == Flaw.CLASS_ALONE_IS_THE_KEY ? name.lockClass() : name);
    }

    synchronized Optional<FencingToken> grant(LockName name, String key, UUID holder, LockOptions options) {
        if (current(key).isPresent() && flaw != Flaw.GRANTS_TWICE) {
            return Optional.empty();
        }
        UUID id = flaw == Flaw.HOLDER_PER_PROCESS ? PROCESS : holder;
        Instant now = Instant.now();
        HolderProcess process = new HolderProcess(
                options.application(), "here", ProcessHandle.current().pid(), now);
        grants.put(key, new Grant(id, System.nanoTime() + options.lease().toNanos(), process));
        long clock = ChronoUnit.MICROS.between(Instant.EPOCH, now);
        counter = flaw == Flaw.TOKENS_REPEAT ? clock / 1_000_000 * 1_000_000 : Math.max(counter + 1, clock);
        long value = Math.max(counter, floors.getOrDefault(flaw == Flaw.FLOOR_FOR_ALL ? "" : key, 0L) + 1);
        return Optional.of(new FencingToken(name, value, id));
    }

    private Optional<Grant> current(String key) {
        return Optional.ofNullable(grants.get(key)).filter(grant -> grant.endNanos - System.nanoTime() > 0);
    }

    synchronized Optional<HolderProcess> holder(String key) {
        return flaw == Flaw.HOLDER_UNKNOWN ? Optional.empty() : current(key).map(Grant::process);
    }

    synchronized boolean renew(String key, UUID holder, Duration lease) {
        Optional<Grant> grant =
                current(key).filter(g -> g.holder.equals(holder) || flaw == Flaw.RENEWAL_IGNORES_HOLDER);
        grant.ifPresent(g -> grants.put(key, new Grant(holder, System.nanoTime() + lease.toNanos(), g.process)));
        return grant.isPresent();
    }

    synchronized void release(String key, UUID holder, Duration keep) {
        boolean mine = current(key).filter(g -> g.holder.equals(holder)).isPresent();
        if (mine && !keep.isZero() && flaw != Flaw.LEAST_TIME_IS_IGNORED) {
            HolderProcess process = grants.get(key).process;
            grants.put(key, new Grant(UUID.randomUUID(), System.nanoTime() + keep.toNanos(), process));
            return;
        }
        if (flaw != Flaw.RELEASE_WAITS_FOR_THE_LEASE && (mine || flaw == Flaw.RELEASE_IGNORES_HOLDER)) {
            grants.remove(key);
            notifyAll();
        }
    }

    /** A grant that nobody knows of, once the lock is free. */
    synchronized void reserve(String key) {
        HolderProcess nobody = new HolderProcess("nobody", "here", 1, Instant.now());
        grants.put(key, new Grant(UUID.randomUUID(), System.nanoTime() + 10_000_000_000L, nobody));
    }

    synchronized void raiseFloor(String key, FencingToken mark) {
        if (flaw != Flaw.NO_FLOOR) {
            floors.merge(flaw == Flaw.FLOOR_FOR_ALL ? "" : key, mark.value(), Math::max);
        }
    }
}
