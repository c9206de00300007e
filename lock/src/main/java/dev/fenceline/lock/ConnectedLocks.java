package dev.fenceline.lock;

import dev.fenceline.BackendUnavailableException;
import dev.fenceline.EfficiencyLock;
import dev.fenceline.FencedLock;
import dev.fenceline.FencedLocks;
import dev.fenceline.FencelineEvent;
import dev.fenceline.HolderProcess;
import dev.fenceline.LockName;
import dev.fenceline.LockOptions;
import dev.fenceline.Locks;
import dev.fenceline.lock.LockTransport.ReleaseReply;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Future;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.random.RandomGenerator;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * The locks over one transport: what is waited for, what is held, the one thread that renews, and the one that tells. Knows
 * nothing of Redis or of Lettuce, and takes time and chance from outside, so that a simulation can drive it.
 */
final class ConnectedLocks implements Locks, LockTransport.Hints {

    /** What queue.lua tells: it is your turn, or look again after so long. */
    private static final Pattern HINT =
            Pattern.compile("(?:offer|watch)\\|(?<holder>[0-9a-f]{32})(?:\\|(?<millis>[0-9]{1,9}))?");

    private final LockTransport transport;
    private final LockOptions options;
    private final LockClock clock;
    private final RandomGenerator random;
    private final ScheduledExecutorService scheduler;
    private final Notices notices;

    private final Floors floors = new Floors();
    private final LocalQueues<LockKey, Acquisition, RedisLease> queues = new LocalQueues<>();
    private final Map<UUID, Acquisition> acquisitions = new ConcurrentHashMap<>();
    private final Keeper keeper;
    private final Set<Release> releases = ConcurrentHashMap.newKeySet();
    private final AtomicBoolean closing = new AtomicBoolean();
    private final CompletableFuture<Void> closed = new CompletableFuture<>();

    ConnectedLocks(
            LockTransport transport,
            LockOptions options,
            LockClock clock,
            RandomGenerator random,
            ScheduledExecutorService scheduler,
            Notices notices) {
        this.transport = transport;
        this.options = options;
        this.clock = clock;
        this.random = random;
        this.scheduler = scheduler;
        this.notices = notices;
        this.keeper = new Keeper(this);
        transport.listen(this);
    }

    @Override
    public FencedLock fenced(LockName name) {
        return new RedisFencedLock(this, name);
    }

    @Override
    public FencedLocks fencedAll(Collection<LockName> names) {
        return FencedLocks.of(names.stream().map(this::fenced).toList(), options.maxWait());
    }

    @Override
    public EfficiencyLock efficiency(LockName name) {
        return new RedisEfficiencyLock(this, name);
    }

    @Override
    public void close() {
        if (!closing.compareAndSet(false, true)) {
            // The JVM may be ending: it must not halt before the releases of whoever closes have gone out.
            awaitQuietly(closed, options.commandTimeout());
            return;
        }
        long start = System.nanoTime();
        // A part of the time is kept for disconnecting, so that the whole stays within one command timeout.
        Duration forReleases = options.commandTimeout().multipliedBy(3).dividedBy(4);
        acquisitions.values().forEach(acquisition -> acquisition.fail(() -> closedException(acquisition.name())));
        closeHeld(forReleases);
        awaitQuietly(allAcknowledged(), forReleases.minusNanos(System.nanoTime() - start));
        scheduler.shutdownNow();
        releases.forEach(Release::endNow);
        notices.close(options.commandTimeout().dividedBy(8));
        transport.close(options.commandTimeout().minusNanos(System.nanoTime() - start));
        closed.complete(null);
    }

    private void closeHeld(Duration limit) {
        record Sent(RedisLease lease, CompletableFuture<ReleaseReply> acknowledged) {}
        List<Sent> sent = new ArrayList<>();
        for (RedisLease lease : keeper.held()) {
            CompletableFuture<ReleaseReply> acknowledged = lease.startClosing();
            if (acknowledged != null) {
                sent.add(new Sent(lease, acknowledged));
            }
        }
        long end = System.nanoTime() + limit.toNanos();
        for (Sent release : sent) {
            try {
                ReleaseReply unused = Uninterruptibly.await(
                        release.acknowledged(),
                        Duration.ofNanos(Math.max(0, end - System.nanoTime())),
                        transport::silent);
            } catch (SendFailure failure) {
                release.lease().releaseFailed(failure);
            }
        }
    }

    /** How many leases {@link #close()} would release. */
    int heldLeases() {
        return keeper.held().size();
    }

    boolean isClosed() {
        return closing.get();
    }

    LockTransport transport() {
        return transport;
    }

    LockOptions options() {
        return options;
    }

    LockClock clock() {
        return clock;
    }

    LocalQueues<LockKey, Acquisition, RedisLease> queues() {
        return queues;
    }

    Keeper keeper() {
        return keeper;
    }

    Floors floors() {
        return floors;
    }

    /** 128 bits: a holder is compared where two servers issued the same number. */
    UUID newHolder() {
        return new UUID(random.nextLong(), random.nextLong());
    }

    /** A number from 0 to one below the bound. */
    long random(long bound) {
        return random.nextLong(bound);
    }

    /** Starts an acquisition; it is failed at once when the locks are closed, also in the middle of this method. */
    Acquisition start(LockKey lock, Duration maxWait) {
        Acquisition acquisition = new Acquisition(this, lock, maxWait);
        // Before the first request: the turn of a waiter can be announced before its first answer is there.
        acquisitions.put(acquisition.holder(), acquisition);
        if (isClosed()) {
            acquisition.fail(() -> closedException(lock.name()));
        } else if (acquisition.patience() == Acquisition.Patience.TRIES_ONCE || queues.join(lock, acquisition)) {
            acquisition.contend(null);
        }
        return acquisition;
    }

    void finished(Acquisition acquisition) {
        acquisitions.remove(acquisition.holder());
    }

    @Override
    public void heard(String message) {
        Matcher hint = HINT.matcher(message);
        if (!hint.matches()) {
            return;
        }
        Acquisition acquisition = acquisitions.get(LockValue.holder(hint.group("holder")));
        // One that is not here was granted or has given up, and whoever gave up has sent a release.
        if (acquisition == null) {
            return;
        }
        String millis = hint.group("millis");
        if (millis == null) {
            acquisition.attemptAgain();
        } else {
            acquisition.attemptWithin(Long.parseLong(millis));
        }
    }

    @Override
    public void subscribed() {
        // What was said meanwhile was said to nobody.
        acquisitions.values().forEach(Acquisition::attemptAgain);
    }

    BackendUnavailableException closedException(LockName name) {
        return new BackendUnavailableException(
                "Lock '" + name + "' not acquired: these locks were closed. Nothing is held; connect anew.", null);
    }

    /**
     * Keeps a lost lease for {@link #close()} to release while the server may still have it; not longer, since its owner may
     * never close it. A renewal that is on its way may prolong it within a command timeout.
     */
    void forgetAfterItsTime(RedisLease lease) {
        Duration time = options.lease().plus(options.commandTimeout());
        boolean unused = laterNanos(() -> keeper.remove(lease), time.toNanos());
    }

    /** Tells whether a lease of these locks holds one: whoever waits for it then may wait for itself. */
    boolean holds(LockKey lock) {
        return heldHere(lock).isPresent();
    }

    /** This process as the holder of a lock; null where it holds none of that name. */
    @Nullable HolderProcess holderHere(LockKey lock) {
        return heldHere(lock)
                .map(lease -> LockValue.ourselves(options.application(), lease.since()))
                .orElse(null);
    }

    private Optional<RedisLease> heldHere(LockKey lock) {
        return keeper.held().stream()
                .filter(lease -> lease.isFor(lock) && lease.isHeld())
                .findAny();
    }

    /** Has {@link #close()} wait for a release. */
    void releasing(Release release) {
        releases.add(release);
    }

    void released(Release release) {
        releases.remove(release);
    }

    /** Tells the listener on this thread: only where a user's thread is at work, which a slow listener may hold up. */
    void tell(FencelineEvent event) {
        options.listener().tell(event);
    }

    /** Tells the listener, and runs what users gave us, on the thread that is there for it. */
    Notices notices() {
        return notices;
    }

    /** Runs a step on the thread of these locks; not any more once they are closed. */
    void soon(Runnable step) {
        boolean unused = laterNanos(step, 0);
    }

    /** Runs a step later; false when these locks are closed. */
    boolean later(Runnable step, long delayMillis) {
        return laterNanos(step, TimeUnit.MILLISECONDS.toNanos(delayMillis));
    }

    boolean laterNanos(Runnable step, long delayNanos) {
        return timer(step, delayNanos) != null;
    }

    /** As {@link #later}, and can be cancelled; null when these locks are closed. */
    @Nullable Future<?> timer(Runnable step, long delayNanos) {
        try {
            return scheduler.schedule(() -> Notices.runSafely(step), delayNanos, TimeUnit.NANOSECONDS);
        } catch (RejectedExecutionException e) {
            return null;
        }
    }

    private CompletableFuture<Void> allAcknowledged() {
        return CompletableFuture.allOf(
                releases.stream().map(Release::acknowledged).toArray(CompletableFuture<?>[]::new));
    }

    private static void awaitQuietly(CompletableFuture<Void> done, Duration limit) {
        try {
            Void unused = Uninterruptibly.await(done, limit.isNegative() ? Duration.ZERO : limit);
        } catch (SendFailure | CompletionException e) {
            // What could not be released has been reported, or nobody holds it; it ends with its lease time.
        }
    }
}
