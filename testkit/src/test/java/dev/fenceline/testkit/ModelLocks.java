package dev.fenceline.testkit;

import dev.fenceline.BackendUnavailableException;
import dev.fenceline.DistributedLock;
import dev.fenceline.EfficiencyLock;
import dev.fenceline.FencedLease;
import dev.fenceline.FencedLock;
import dev.fenceline.FencingToken;
import dev.fenceline.Lease;
import dev.fenceline.LockName;
import dev.fenceline.LockNotAcquiredException;
import dev.fenceline.LockOptions;
import dev.fenceline.Locks;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
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
    public EfficiencyLock efficiency(LockName name) {
        return new Efficiency(name);
    }

    @Override
    public void close() {
        synchronized (server) {
            closed = true;
            if (server.flaw() != ModelServer.Flaw.CLOSE_FORGETS_LEASES) {
                held.forEach(Lease::close);
            }
            if (server.flaw() != ModelServer.Flaw.CLOSE_WAKES_NOBODY) {
                server.notifyAll();
            }
        }
    }

    private ModelLease acquire(LockName name, String key, Duration maxWait) throws InterruptedException {
        UUID holder = UUID.randomUUID();
        Duration patience =
                server.flaw() == ModelServer.Flaw.OVERRUNS_THE_WAIT_LIMIT ? maxWait.plusSeconds(3) : maxWait;
        long deadline = System.nanoTime() + patience.toNanos();
        synchronized (server) {
            try {
                while (true) {
                    Optional<ModelLease> lease = tryAcquire(name, key, holder);
                    if (lease.isPresent()) {
                        return lease.get();
                    }
                    long left = (deadline - System.nanoTime()) / 1_000_000;
                    if (left <= 0) {
                        throw new LockNotAcquiredException(
                                name, maxWait, server.holder(key).orElse(null));
                    }
                    server.wait(Math.max(1, Math.min(left, 10)));
                }
            } catch (InterruptedException e) {
                if (server.flaw() == ModelServer.Flaw.INTERRUPT_LEAVES_A_GRANT) {
                    server.reserve(key);
                }
                throw e;
            }
        }
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
    }

    private final class Efficiency extends ModelLock<Lease> implements EfficiencyLock {

        Efficiency(LockName name) {
            super(name, "efficiency");
        }

        @Override
        Lease asLease(ModelLease lease) {
            return lease;
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
