package dev.fenceline;

import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** A lock for one thread: free or taken, and told what goes wrong. It never waits. */
final class LockInMemory implements FencedLock {

    private final LockName name;
    private final List<Leased> granted = new CopyOnWriteArrayList<>();
    private final List<LockName> log;
    private final List<Duration> waits = new CopyOnWriteArrayList<>();
    private final List<FencingToken> floors = new CopyOnWriteArrayList<>();
    private Optional<RuntimeException> failure = Optional.empty();
    private Optional<CompletableFuture<FencedLease>> pending = Optional.empty();

    LockInMemory(LockName name) {
        this(name, new CopyOnWriteArrayList<>());
    }

    /** Shares a log of the names in the order of what happened to them. */
    LockInMemory(LockName name, List<LockName> log) {
        this.name = name;
        this.log = log;
    }

    List<Leased> granted() {
        return granted;
    }

    Leased newest() {
        return granted.get(granted.size() - 1);
    }

    List<Duration> waits() {
        return waits;
    }

    List<FencingToken> floors() {
        return floors;
    }

    void take() {
        granted.add(new Leased());
    }

    void failWith(RuntimeException thrown) {
        failure = Optional.of(thrown);
    }

    /** The next asynchronous acquisition ends when the test ends it. */
    CompletableFuture<FencedLease> hold() {
        CompletableFuture<FencedLease> future = new CompletableFuture<>();
        pending = Optional.of(future);
        return future;
    }

    @Override
    public LockName name() {
        return name;
    }

    @Override
    public Optional<FencedLease> tryAcquire() {
        failure.ifPresent(thrown -> {
            throw thrown;
        });
        if (granted.stream().anyMatch(Leased::isHeld)) {
            return Optional.empty();
        }
        log.add(name);
        take();
        return Optional.of(newest());
    }

    @Override
    public FencedLease acquire() throws InterruptedException {
        return acquireWithin(Duration.ZERO);
    }

    @Override
    public FencedLease acquireWithin(Duration maxWait) throws InterruptedException {
        if (Thread.interrupted()) {
            throw new InterruptedException("Interrupted before lock '" + name + "' was asked for.");
        }
        waits.add(maxWait);
        return tryAcquire().orElseThrow(() -> new LockNotAcquiredException(name, maxWait, null));
    }

    @Override
    public CompletableFuture<Optional<FencedLease>> tryAcquireAsync() {
        return CompletableFuture.supplyAsync(this::tryAcquire);
    }

    @Override
    public CompletableFuture<FencedLease> acquireAsync() {
        return acquireAsync(Duration.ZERO);
    }

    @Override
    public CompletableFuture<FencedLease> acquireAsync(Duration maxWait) {
        waits.add(maxWait);
        return pending.orElseGet(() -> CompletableFuture.supplyAsync(
                () -> tryAcquire().orElseThrow(() -> new LockNotAcquiredException(name, maxWait, null))));
    }

    @Override
    public void raiseFloor(FencingToken mark) {
        floors.add(mark);
    }

    /** One grant. */
    final class Leased implements FencedLease {

        private final FencingToken token = new FencingToken(name, granted.size() + 1, UUID.randomUUID());
        private @Nullable RuntimeException atClose;
        private volatile LeaseLostException.@Nullable Reason over;
        private int closings;

        void lose(LeaseLostException.Reason reason) {
            over = reason;
        }

        void throwAtClose(RuntimeException thrown) {
            atClose = thrown;
        }

        int closings() {
            return closings;
        }

        @Override
        public FencingToken token() {
            return token;
        }

        @Override
        public LockName lock() {
            return name;
        }

        @Override
        public boolean isHeld() {
            return over == null;
        }

        @Override
        public Duration remaining() {
            return isHeld() ? Duration.ofSeconds(token.value()) : Duration.ZERO;
        }

        @Override
        public void requireHeld() {
            if (over != null) {
                throw new LeaseLostException(name, over, Duration.ofSeconds(1));
            }
        }

        @Override
        public void renew() {
            requireHeld();
        }

        @Override
        public void onLost(Consumer<LeaseLostException> callback) {
            throw new AssertionError("not asked for here");
        }

        @Override
        public void close() {
            closings++;
            if (over == null) {
                over = LeaseLostException.Reason.CLOSED;
                log.add(name);
            }
            if (atClose != null) {
                throw atClose;
            }
        }

        @Override
        public CompletableFuture<Void> closeAsync() {
            close();
            return CompletableFuture.completedFuture(null);
        }
    }
}
