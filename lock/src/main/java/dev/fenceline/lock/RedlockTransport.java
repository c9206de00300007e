package dev.fenceline.lock;

import io.lettuce.core.RedisURI;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Locks at a majority of independent masters. There is no queue across them: who finds a lock taken asks again after a random time,
 * so that two who split the nodes between them do not go on doing so.
 */
final class RedlockTransport implements LockTransport {

    private final Network network;
    private final List<RedlockNode> nodes = new ArrayList<>();
    private final Map<RedlockNode, String> processes = new ConcurrentHashMap<>();
    private final RedlockAttempt.Field field;
    private final String server;

    /**
     * Begins without a connection.
     *
     * @param scripts what each node runs
     */
    RedlockTransport(
            Network network,
            List<RedisURI> uris,
            Duration nodeTimeout,
            Context context,
            Function<RedisURI, NodeScripts> scripts) {
        this.network = network;
        this.server = "Redlock over Redis at " + Uris.addresses(uris);
        Proposed proposed = new Proposed(TimeUnit.NANOSECONDS.toMicros(
                context.options().clockStepTolerance().toNanos()));
        for (RedisURI uri : uris) {
            nodes.add(new RedlockNode(network, uri, context, scripts.apply(uri), this::enter, proposed));
        }
        this.field = new RedlockAttempt.Field(
                List.copyOf(nodes),
                Majority.Size.of(nodes.size()),
                nodeTimeout.toNanos(),
                new RoundLimits(context, nodeTimeout.toNanos()),
                proposed,
                context);
    }

    private @Nullable RedlockNode enter(RedlockNode node, String runId) {
        processes.put(node, runId);
        // Of two that find each other at the same time both may be refused, and tried again.
        RedlockNode same = processes.entrySet().stream()
                .filter(other ->
                        !other.getKey().equals(node) && other.getValue().equals(runId))
                .map(Map.Entry::getKey)
                .findAny()
                .orElse(null);
        if (same != null) {
            processes.remove(node);
        }
        return same;
    }

    RedlockAttempt.Field field() {
        return field;
    }

    /**
     * Connects to all nodes. Ends once a majority can be used and the others are there too, have failed, or were waited for a little;
     * or with what {@link Redlock#connect} throws.
     */
    CompletableFuture<Void> connect() {
        return new RedlockConnecting(field, server).begin();
    }

    @Override
    public String server() {
        return server;
    }

    /** Those that are away; where all are there, one of them or several. */
    @Override
    public String silent() {
        String away = nodes.stream()
                .filter(node -> !node.isAdmitted())
                .map(RedlockNode::name)
                .collect(Collectors.joining(", "));
        return away.isEmpty() ? "a majority of " + server : away;
    }

    @Override
    public CompletionStage<AcquireReply> acquire(LockKey lock, AcquireRequest request) {
        Predecessor predecessor = request.predecessor();
        if (predecessor != null && predecessor.passing() == Passing.IN_TURN) {
            // Whether others wait is not known here, so they are given a moment in which the lock is free.
            return release(lock, predecessor.holder(), Duration.ZERO).thenApply(done -> new AcquireReply.Busy(null));
        }
        return RedlockAttempt.of(
                field,
                lock,
                new RedlockAttempt.Request(
                        request.holder(), request.floor(), predecessor == null ? null : predecessor.holder()));
    }

    @Override
    public CompletionStage<RenewReply> renew(LockKey lock, UUID holder) {
        return Majority.of(
                        field.size(),
                        RenewReply.RENEWED,
                        nodes.stream().map(node -> node.renew(lock, holder)).toList())
                .thenApply(reply -> {
                    if (reply == RenewReply.REFUSED) {
                        // The lease is over with this answer. A minority may have it still, and has just prolonged it.
                        var unused = release(lock, holder, Duration.ZERO);
                    }
                    return reply;
                });
    }

    @Override
    public CompletionStage<ReleaseReply> release(LockKey lock, UUID holder, Duration keep) {
        long freeAt = field.context().clock().nanoTime() + keep.toNanos();
        // One that has nothing of this holder is as good as one that has released it.
        return Majority.of(
                field.size(),
                ReleaseReply.RELEASED,
                nodes.stream()
                        .map(node -> node.release(lock, holder, Long.MAX_VALUE, freeAt)
                                .thenApply(reply -> ReleaseReply.RELEASED))
                        .toList());
    }

    @Override
    public void listen(Hints hints) {
        // Nothing is told: a majority is not at one place.
    }

    @Override
    public boolean listening() {
        return true;
    }

    @Override
    public void close(Duration limit) {
        network.close();
        network.shutDown(
                CompletableFuture.allOf(nodes.stream().map(RedlockNode::close).toArray(CompletableFuture<?>[]::new)),
                limit);
    }
}
