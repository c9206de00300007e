package dev.fenceline.lock;

import dev.fenceline.FencelineException;
import dev.fenceline.LockName;
import dev.fenceline.LockOptions;
import dev.fenceline.lock.RedlockNodeState.Status;
import io.lettuce.core.RedisURI;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/** Looks at all nodes at once, those that are away or refuse as well. Connects for itself, and disconnects. */
final class RedlockLook {

    /** A little more than the limits of connecting and asking, whose messages say more. */
    private static final Duration MARGIN = Duration.ofMillis(500);

    private static final Script SHOW = Script.load("redlock-show.lua");

    /** Where nobody asks for a lock; the script reads one. */
    private static final LockKey NONE = new LockKey(LockKind.EFFICIENCY, LockName.of("none"));

    private RedlockLook() {}

    /**
     * Looks.
     *
     * @param options of which the restart delay is that of the nodes
     * @param handshake how long connecting may take
     * @param lock what else to show, or null
     */
    static List<RedlockNodeState> at(
            Network network, List<RedisURI> nodes, LockOptions options, Duration handshake, @Nullable LockKey lock) {
        Duration limit = handshake.plus(options.commandTimeout()).plus(MARGIN);
        long end = System.nanoTime() + limit.toNanos();
        List<CompletableFuture<Link>> links = nodes.stream()
                .map(node -> link(network, node, handshake, options.commandTimeout()))
                .toList();
        try {
            KeySpace keys = new KeySpace(options.keyPrefix());
            List<CompletableFuture<RedlockNodeState>> asked = links.stream()
                    .map(link -> link.thenCompose(made -> ask(made, keys, options.restartDelay(), lock)))
                    .toList();
            List<RedlockNodeState> states = new ArrayList<>();
            for (int i = 0; i < nodes.size(); i++) {
                states.add(state("Redis at " + Uris.address(nodes.get(i)), asked.get(i), end));
            }
            return List.copyOf(states);
        } finally {
            network.close(); // first: what connects from now on would not be in this list
            network.disconnect(
                    links.stream()
                            .filter(link -> link.isDone() && !link.isCompletedExceptionally())
                            .map(CompletableFuture::join)
                            .toList(),
                    options.commandTimeout());
        }
    }

    private static CompletableFuture<Link> link(
            Network network, RedisURI node, Duration handshake, Duration commandTimeout) {
        String name = "Redis at " + Uris.address(node);
        return network.connect(node, handshake)
                .thenApply(connection -> {
                    // Until here the handshake's limit held.
                    connection.setTimeout(commandTimeout);
                    return Link.passing(connection, LockClock.system(), name, commandTimeout);
                })
                .exceptionallyCompose(
                        thrown -> CompletableFuture.failedFuture(ConnectFailure.of(name, Link.unwrapped(thrown))));
    }

    private static CompletableFuture<RedlockNodeState> ask(
            Link link, KeySpace keys, Duration delay, @Nullable LockKey lock) {
        LockKey asked = lock == null ? NONE : lock;
        String[] all = asked.in(keys);
        String[] three = asked.kind() == LockKind.FENCED
                ? new String[] {keys.node(), all[0], all[5]}
                : new String[] {keys.node(), all[0]};
        return link.run(SHOW, three, Integer.toString(keys.bucketOf(asked)))
                .thenApply(reply -> read(link.server(), reply.words(), delay, lock));
    }

    private static RedlockNodeState read(String server, List<String> words, Duration delay, @Nullable LockKey lock) {
        long born = Long.parseLong(words.get(2));
        Optional<Instant> reborn =
                words.get(0).equals("known") && born > 0 ? Optional.of(instant(born)) : Optional.empty();
        Optional<Instant> waitsUntil =
                reborn.map(since -> since.plus(delay)).filter(instant(Long.parseLong(words.get(1)))::isBefore);
        Status status = switch (words.get(0)) {
            case "new" -> Status.NEW;
            case "reborn" -> Status.RESTARTED;
            default -> waitsUntil.isPresent() ? Status.WAITING : Status.KNOWN;
        };
        boolean fenced = lock != null && lock.kind() == LockKind.FENCED;
        String counter = fenced ? words.get(3) : "";
        return new RedlockNodeState(
                server,
                status,
                Optional.empty(),
                reborn,
                waitsUntil,
                fenced ? OptionalLong.of(Long.parseLong(counter)) : OptionalLong.empty(),
                lock == null || words.get(5).isEmpty()
                        ? Optional.empty()
                        : LockState.of(
                                lock,
                                // As look.lua tells of a lock, with nobody in a queue.
                                new Reply(
                                        0,
                                        List.of(
                                                words.get(5),
                                                words.get(6),
                                                words.get(1),
                                                counter,
                                                words.get(4),
                                                "0"))));
    }

    private static Instant instant(long micros) {
        return Instant.EPOCH.plus(micros, ChronoUnit.MICROS);
    }

    private static RedlockNodeState state(String server, CompletableFuture<RedlockNodeState> asked, long end) {
        try {
            return Uninterruptibly.await(asked, Duration.ofNanos(Math.max(0, end - System.nanoTime())));
        } catch (SendFailure failure) {
            Throwable why = failure.getCause() instanceof FencelineException ours ? ours : failure;
            return new RedlockNodeState(
                    server,
                    Status.UNKNOWN,
                    Optional.of(String.valueOf(why.getMessage())),
                    Optional.empty(),
                    Optional.empty(),
                    OptionalLong.empty(),
                    Optional.empty());
        }
    }
}
