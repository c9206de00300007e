package dev.fenceline.lock;

import dev.fenceline.BackendMisconfiguredException;
import io.lettuce.core.RedisURI;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * Asks Sentinels for the master of today, all of them at once: the address that most of them name is taken. One that lost touch
 * with the others goes on naming the master that they have replaced, and one that is down must not cost a connect timeout.
 */
final class Sentinels {

    /** How long those that are slow are waited for once one has answered. */
    private static final Duration GRACE = Duration.ofMillis(300);

    private final Network network;
    private final RedisURI uri;
    private final Context context;

    Sentinels(Network network, RedisURI uri, Context context) {
        this.network = network;
        this.uri = uri;
        this.context = context;
    }

    String name() {
        return uri.getSentinelMasterId();
    }

    @Override
    public String toString() {
        return "Sentinel at " + Uris.addresses(uri.getSentinels());
    }

    /** Where the master is, with the login that the URI gives for it. */
    CompletableFuture<RedisURI> master(Duration limit) {
        Poll poll = new Poll(uri.getSentinels().size());
        for (RedisURI sentinel : uri.getSentinels()) {
            var unused = ask(sentinel, limit)
                    .orTimeout(limit.toMillis(), TimeUnit.MILLISECONDS)
                    .thenAccept(poll::answered)
                    .exceptionally(thrown -> poll.failed(sentinel, thrown));
        }
        return poll.result.thenApply(address -> Uris.at(uri, address.getHostString(), address.getPort()));
    }

    private CompletableFuture<Optional<InetSocketAddress>> ask(RedisURI sentinel, Duration limit) {
        return network.connectSentinel(sentinel, limit)
                .thenCompose(connection -> connection
                        .async()
                        .getMasterAddrByName(name())
                        .toCompletableFuture()
                        .whenComplete((address, thrown) -> {
                            var unused = connection.closeAsync();
                        })
                        .thenApply(Sentinels::inet));
    }

    static Optional<InetSocketAddress> inet(@Nullable SocketAddress address) {
        return address instanceof InetSocketAddress inet ? Optional.of(inet) : Optional.empty();
    }

    /** The answers to one question. */
    private final class Poll {

        private final int asked;
        private final CompletableFuture<InetSocketAddress> result = new CompletableFuture<>();
        private final ReentrantLock guard = new ReentrantLock();
        private final Map<InetSocketAddress, Integer> votes = new LinkedHashMap<>();
        private final List<Throwable> failures = new ArrayList<>();
        private int ignorant;

        Poll(int asked) {
            this.asked = asked;
        }

        void answered(Optional<InetSocketAddress> address) {
            guard.lock();
            try {
                if (address.isPresent()) {
                    votes.merge(address.get(), 1, Integer::sum);
                    decideAfterGrace();
                } else {
                    ignorant++;
                }
                decideIfSettled();
            } finally {
                guard.unlock();
            }
        }

        @Nullable Void failed(RedisURI sentinel, Throwable thrown) {
            guard.lock();
            try {
                failures.add(ConnectFailure.ofSentinel(Uris.address(sentinel), Link.unwrapped(thrown)));
                decideIfSettled();
            } finally {
                guard.unlock();
            }
            return null;
        }

        private void decideIfSettled() {
            boolean majority = votes.values().stream().anyMatch(count -> 2 * count > asked);
            int answered = votes.values().stream().mapToInt(Integer::intValue).sum();
            if (majority || answered + ignorant + failures.size() == asked) {
                decide();
            }
        }

        private void decideAfterGrace() {
            try {
                var unused = context.scheduler().schedule(this::decide, GRACE.toMillis(), TimeUnit.MILLISECONDS);
            } catch (RejectedExecutionException e) {
                // The locks were closed meanwhile; the limit of each question ends the poll.
            }
        }

        private void decide() {
            guard.lock();
            try {
                Optional<InetSocketAddress> named = votes.entrySet().stream()
                        .max(Map.Entry.comparingByValue())
                        .map(Map.Entry::getKey);
                if (named.isPresent()) {
                    result.complete(named.get());
                } else if (ignorant > 0) {
                    result.completeExceptionally(new BackendMisconfiguredException(
                            Sentinels.this + " knows no master named '" + name()
                                    + "'. Check the name behind # in the URI against 'sentinel monitor' in its configuration.",
                            null));
                } else {
                    Throwable first = failures.get(0);
                    failures.stream().skip(1).forEach(first::addSuppressed);
                    result.completeExceptionally(first);
                }
            } finally {
                guard.unlock();
            }
        }
    }
}
