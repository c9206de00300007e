package dev.fenceline.lock;

import dev.fenceline.BackendMisconfiguredException;
import dev.fenceline.lock.Slots.Address;
import io.lettuce.core.RedisURI;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;

/** Asks the nodes of a Cluster who has which slots. */
final class Topology {

    /** A failover takes seconds, in which many a waiter finds that his master is gone. */
    private static final Duration PAUSE = Duration.ofMillis(100);

    /** What a node said. */
    private record Answer(List<Object> slots, String askedHost) {}

    /** Hears what a node said of the whole. */
    interface Learner {
        void learnt(List<Object> slots, String askedHost);
    }

    private final Network network;
    private final List<RedisURI> seeds;
    private final Context context;
    private final Learner learner;
    private final AtomicBoolean refreshing = new AtomicBoolean();
    private final AtomicInteger turn = new AtomicInteger();

    private volatile List<RedisURI> known = List.of();

    Topology(Network network, List<RedisURI> seeds, Context context, Learner learner) {
        this.network = network;
        this.seeds = seeds;
        this.context = context;
        this.learner = learner;
    }

    /**
     * Asks for the first time: all seeds at once, since one that is silent must not cost a timeout. The first answer is taken. Ends
     * with what {@code RedisLocks.connectCluster} throws.
     */
    CompletableFuture<Void> askSeeds() {
        CompletableFuture<Answer> first = new CompletableFuture<>();
        List<CompletableFuture<Boolean>> all = seeds.stream()
                .map(seed -> askOne(seed, Network.CONNECT_TIMEOUT.dividedBy(2)).thenApply(first::complete))
                .toList();
        var unused = CompletableFuture.allOf(all.toArray(CompletableFuture<?>[]::new))
                .whenComplete((done, thrown) -> {
                    if (thrown != null) {
                        // Does nothing if one of them has answered.
                        first.completeExceptionally(ofAll(all));
                    }
                });
        return first.thenAccept(this::learn);
    }

    /** What is wrong for good, if a node said so, else what the first one said. */
    private static Throwable ofAll(List<CompletableFuture<Boolean>> failed) {
        List<Throwable> failures = failed.stream()
                .filter(CompletableFuture::isCompletedExceptionally)
                .map(one -> one.handle((done, thrown) -> Link.unwrapped(thrown)).join())
                .toList();
        return failures.stream()
                .filter(BackendMisconfiguredException.class::isInstance)
                .findFirst()
                .orElse(failures.get(0));
    }

    private void learn(Answer answer) {
        learner.learnt(answer.slots(), answer.askedHost());
    }

    /** Has the nodes asked in the background, one after the other until one answers, unless that is being done, or was done a moment ago. */
    void refresh() {
        if (!refreshing.compareAndSet(false, true)) {
            return;
        }
        List<RedisURI> all = new ArrayList<>(known);
        all.addAll(seeds);
        // Not the same one first each time: it may be cut off from the others, and know of no change.
        Collections.rotate(all, turn.getAndIncrement());
        var unused = ask(all, 0, context.commandTimeout()).whenComplete((done, thrown) -> {
            try {
                var unusedTimer = context.scheduler()
                        .schedule(() -> refreshing.set(false), PAUSE.toMillis(), TimeUnit.MILLISECONDS);
            } catch (RejectedExecutionException e) {
                // The locks were closed meanwhile.
            }
        });
    }

    /** The nodes to ask from now on, before the seeds. */
    void know(Set<Address> masters) {
        known = masters.stream()
                .map(master -> Uris.at(seeds.get(0), master.host(), master.port()))
                .toList();
    }

    private CompletableFuture<Void> ask(List<RedisURI> nodes, int index, Duration limit) {
        RedisURI node = nodes.get(index);
        return askOne(node, limit).thenAccept(this::learn).exceptionallyCompose(thrown -> {
            Throwable why = Link.unwrapped(thrown);
            return why instanceof BackendMisconfiguredException || index + 1 == nodes.size()
                    ? CompletableFuture.failedFuture(why)
                    : ask(nodes, index + 1, limit);
        });
    }

    private CompletableFuture<Answer> askOne(RedisURI node, Duration limit) {
        String name = "Redis Cluster node at " + Uris.address(node);
        return network.connect(node, limit)
                .thenCompose(connection -> Link.passing(connection, context.clock(), name, limit)
                        .slots()
                        .whenComplete((slots, thrown) -> {
                            var unused = connection.closeAsync();
                        }))
                .exceptionallyCompose(thrown -> CompletableFuture.failedFuture(failure(name, Link.unwrapped(thrown))))
                .thenApply(slots -> new Answer(slots, node.getHost()));
    }

    private static Throwable failure(String name, Throwable thrown) {
        String said = String.valueOf(thrown.getMessage());
        if (said.contains("cluster support disabled")) {
            return new BackendMisconfiguredException(
                    name + " runs without Cluster ('" + said + "'). Connect to a server that runs alone with"
                            + " RedisLocks.connect, at a shell by redis://host:port.",
                    thrown);
        }
        if (said.startsWith("NOPERM")) {
            return Grants.missing(name, Set.of("+cluster|slots"), thrown);
        }
        return ConnectFailure.of(name, thrown);
    }
}
