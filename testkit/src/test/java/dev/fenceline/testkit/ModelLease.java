package dev.fenceline.testkit;

import dev.fenceline.FencedLease;
import dev.fenceline.FencelineEvent;
import dev.fenceline.FencingToken;
import dev.fenceline.LeaseLostException;
import dev.fenceline.LeaseLostException.Reason;
import dev.fenceline.LockName;
import dev.fenceline.LockOptions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

/** A lease of {@link ModelLocks}. */
final class ModelLease implements FencedLease {

    static final ScheduledExecutorService RENEWALS = Executors.newScheduledThreadPool(1, work -> {
        Thread thread = new Thread(work, "model-renewal");
        thread.setDaemon(true);
        return thread;
    });

    private final ModelServer server;
    private final FencingToken token;
    private final String key;
    private final LockOptions options;
    private final long grantedNanos = System.nanoTime();
    private final List<Consumer<LeaseLostException>> callbacks = new ArrayList<>();
    private final ScheduledFuture<?> renewal;
    private long deadline;
    private long freeAt = grantedNanos;
    private Duration atLeast = Duration.ZERO;
    private Reason over = Reason.CLOSED;
    private boolean held = true;

    ModelLease(ModelServer server, FencingToken token, String key, LockOptions options) {
        this.server = server;
        this.token = token;
        this.key = key;
        this.options = options;
        this.deadline = grantedNanos + options.lease().toNanos();
        long period = options.renewalPeriod().toNanos();
        this.renewal = RENEWALS.scheduleAtFixedRate(this::tick, period, period, TimeUnit.NANOSECONDS);
    }

    private synchronized void tick() {
        if (!held && server.flaw() != ModelServer.Flaw.LOSS_IS_TOLD_TWICE) {
            return;
        }
        boolean renewable = System.nanoTime() - grantedNanos < options.maxHold().toNanos()
                && server.flaw() != ModelServer.Flaw.NO_RENEWAL;
        if (renewable && server.renew(key, token.holder(), options.lease())) {
            deadline = System.nanoTime() + options.lease().toNanos();
            options.listener().tell(new FencelineEvent.LeaseRenewed(token.lock(), remaining()));
        } else if (deadline - System.nanoTime() <= 0) {
            lose(Reason.DEADLINE_PASSED);
        }
    }

    private void lose(Reason reason) {
        held = false;
        over = reason;
        if (server.flaw() != ModelServer.Flaw.LOSS_IS_TOLD_TWICE) {
            renewal.cancel(false);
        }
        if (server.flaw() != ModelServer.Flaw.LOSS_IS_NOT_TOLD) {
            callbacks.forEach(callback -> callback.accept(loss()));
        }
    }

    private LeaseLostException loss() {
        return new LeaseLostException(token.lock(), over, Duration.ofNanos(System.nanoTime() - grantedNanos));
    }

    @Override
    public FencingToken token() {
        return token;
    }

    @Override
    public LockName lock() {
        return token.lock();
    }

    @Override
    public synchronized boolean isHeld() {
        return held;
    }

    @Override
    public synchronized Duration remaining() {
        return held ? Duration.ofNanos(Math.max(0, deadline - System.nanoTime())) : Duration.ZERO;
    }

    @Override
    public synchronized void requireHeld() {
        if (!held) {
            throw loss();
        }
    }

    @Override
    public synchronized void renew() {
        boolean refused = !held && server.flaw() != ModelServer.Flaw.RENEWAL_IGNORES_HOLDER;
        if (refused || !server.renew(key, token.holder(), options.lease())) {
            throw loss();
        }
        deadline = System.nanoTime() + options.lease().toNanos();
    }

    @Override
    public synchronized void onLost(Consumer<LeaseLostException> callback) {
        callbacks.add(callback);
        if (!held && over != Reason.CLOSED) {
            callback.accept(loss());
        }
    }

    /** From now on the lock stays taken for so long, whenever it is released. */
    synchronized ModelLease keptAtLeast(Duration time) {
        atLeast = time;
        freeAt = System.nanoTime() + time.toNanos();
        return this;
    }

    @Override
    public CompletableFuture<Void> closeAsync() {
        close(); // nothing here waits
        return CompletableFuture.completedFuture(null);
    }

    @Override
    public synchronized void close() {
        Duration keep = server.flaw() == ModelServer.Flaw.LEAST_TIME_FROM_THE_RELEASE
                ? atLeast
                : Duration.ofNanos(Math.max(0, freeAt - System.nanoTime()));
        server.release(key, token.holder(), keep);
        if (server.flaw() == ModelServer.Flaw.CLOSE_COUNTS_AS_LOSS && held) {
            lose(Reason.CLOSED);
        }
        held = false;
        renewal.cancel(false);
    }
}
