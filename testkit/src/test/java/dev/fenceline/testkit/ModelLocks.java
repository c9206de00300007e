package dev.fenceline.testkit;

import dev.fenceline.BackendUnavailableException;
import dev.fenceline.DistributedLock;
import dev.fenceline.EfficiencyLock;
import dev.fenceline.FencedLease;
import dev.fenceline.FencedLock;
import dev.fenceline.FencedLocks;
import dev.fenceline.FencelineEvent;
import dev.fenceline.FencingToken;
import dev.fenceline.JobLock;
import dev.fenceline.Lease;
import dev.fenceline.LockName;
import dev.fenceline.LockNotAcquiredException;
import dev.fenceline.LockOptions;
import dev.fenceline.Locks;
import dev.fenceline.WhenUnavailable;
import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;

/** A lock service in memory, as small as the contract allows: {@link ModelServer} knows the grants, this is its client. */
final class ModelLocks implements Locks {

    private final ModelServer server;
    private final LockOptions options;
    private final List<ModelLease> held = new CopyOnWriteArrayList<>();
    private boolean closed;

    ModelLocks(ModelServer server, LockOptions options) {
        this.server = server;
        this.options = options;
    }

    @Override
    public FencedLock fenced(LockName name) {
        return new Fenced(name);
    }

    @Override
    public FencedLocks fencedAll(Collection<LockName> names) {
        return FencedLocks.of(names.stream().map(this::fenced).toList(), options.maxWait());
    }

    @Override
    public EfficiencyLock efficiency(LockName name) {
        return new Efficiency(name, Duration.ZERO);
    }

    @Override
    public void close() {
        synchronized (server) {
            closed = true;
        }
        // Not within: who closes or renews a lease holds that first, and then asks the server.
        if (server.flaw() != ModelServer.Flaw.CLOSE_FORGETS_LEASES) {
            held.forEach(Lease::close);
        }
        synchronized (server) {
            if (server.flaw() != ModelServer.Flaw.CLOSE_WAKES_NOBODY) {
                server.notifyAll();
            }
        }
    }

    private boolean isClosed() {
        synchronized (server) {
            return closed;
        }
    }

    private ModelLease acquire(LockName name, String key, Duration maxWait) throws InterruptedException {
        UUID holder = UUID.randomUUID();
        Duration patience =
                server.flaw() == ModelServer.Flaw.OVERRUNS_THE_WAIT_LIMIT ? maxWait.plusSeconds(3) : maxWait;
        long deadline = System.nanoTime() + patience.toNanos();
        tell(new FencelineEvent.AcquireStarted(name));
        synchronized (server) {
            try {
                while (true) {
                    Optional<ModelLease> lease = tryAcquire(name, key, holder);
                    if (lease.isPresent()) {
                        return lease.get();
                    }
                    long left = deadline - System.nanoTime();
                    if (left <= 0) {
                        throw new LockNotAcquiredException(
                                name, maxWait, server.holder(key).orElse(null));
                    }
                    // Rounded up: a wait that is cut to whole milliseconds ends before its limit.
                    server.wait(Math.min(left / 1_000_000 + 1, 10));
                }
            } catch (InterruptedException e) {
                if (server.flaw() == ModelServer.Flaw.INTERRUPT_LEAVES_A_GRANT) {
                    server.reserve(key);
                }
                throw e;
            }
        }
    }

    private void tell(FencelineEvent event) {
        options.listener().tell(event);
    }

    private Optional<ModelLease> tryAcquire(LockName name, String key, UUID holder) {
        synchronized (server) {
            if (closed && server.flaw() != ModelServer.Flaw.CLOSE_WAKES_NOBODY) {
                throw new BackendUnavailableException("Lock '" + name + "' not acquired: closed.", null);
            }
            return server.grant(name, key, holder, options).map(token -> {
                ModelLease lease = new ModelLease(server, token, key, options);
                held.add(lease);
                return lease;
            });
        }
    }

    private abstract class ModelLock<L extends Lease> implements DistributedLock<L> {

        private final LockName name;
        private final String key;

        ModelLock(LockName name, String kind) {
            this.name = name;
            this.key = server.key(options.keyPrefix(), kind, name);
        }

        abstract L asLease(ModelLease lease);

        String key() {
            return key;
        }

        @Override
        public LockName name() {
            return name;
        }

        @Override
        public Optional<L> tryAcquire() {
            return ModelLocks.this.tryAcquire(name, key, UUID.randomUUID()).map(this::asLease);
        }

        @Override
        public L acquire() throws InterruptedException {
            return acquireWithin(options.maxWait());
        }

        @Override
        public L acquireWithin(Duration maxWait) throws InterruptedException {
            return asLease(ModelLocks.this.acquire(name, key, maxWait));
        }

        @Override
        public CompletableFuture<Optional<L>> tryAcquireAsync() {
            return new ModelPromise<Optional<L>>(server, options.listener(), name) {
                @Override
                Optional<Optional<L>> attempt() {
                    return Optional.of(tryAcquire());
                }

                @Override
                void giveBack(Optional<L> lease) {
                    lease.ifPresent(Lease::close);
                }
            }.start(key, Duration.ZERO);
        }

        @Override
        public CompletableFuture<L> acquireAsync() {
            return acquireAsync(options.maxWait());
        }

        @Override
        public CompletableFuture<L> acquireAsync(Duration maxWait) {
            if (maxWait.isNegative()) {
                throw new IllegalArgumentException("maxWait is negative.");
            }
            return new ModelPromise<L>(server, options.listener(), name) {
                @Override
                Optional<L> attempt() {
                    return tryAcquire();
                }

                @Override
                void giveBack(L lease) {
                    lease.close();
                }
            }.start(key, maxWait);
        }
    }

    private final class Efficiency extends ModelLock<Lease> implements EfficiencyLock {

        private final Duration atLeast;

        Efficiency(LockName name, Duration atLeast) {
            super(name, "efficiency");
            this.atLeast = atLeast;
        }

        @Override
        Lease asLease(ModelLease lease) {
            return lease.keptAtLeast(atLeast);
        }

        @Override
        public EfficiencyLock holdAtLeast(Duration time) {
            if (time.isNegative() || time.compareTo(Duration.ofDays(1)) > 0) {
                throw new IllegalArgumentException("holdAtLeast of " + time + " for '" + name() + "'.");
            }
            return new Efficiency(name(), time);
        }

        @Override
        public JobLock whenUnavailable(WhenUnavailable choice) {
            return JobLock.of(this, choice, down -> {
                if (isClosed() && server.flaw() != ModelServer.Flaw.CLOSED_IS_AN_OUTAGE) {
                    throw down;
                }
            });
        }
    }

    private final class Fenced extends ModelLock<FencedLease> implements FencedLock {

        Fenced(LockName name) {
            super(name, "fenced");
        }

        @Override
        FencedLease asLease(ModelLease lease) {
            return lease;
        }

        @Override
        public void raiseFloor(FencingToken mark) {
            server.raiseFloor(key(), mark.requireLock(name()));
        }
    }
}
