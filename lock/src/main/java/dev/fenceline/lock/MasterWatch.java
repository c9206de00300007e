package dev.fenceline.lock;

import io.lettuce.core.RedisURI;
import io.lettuce.core.sentinel.api.StatefulRedisSentinelConnection;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Asks the Sentinels once a second whether they still name the master that is connected. An ordered failover ends no connection,
 * and the old master goes on granting for some 10 s before a Sentinel makes it a replica.
 *
 * <p>The connection is given up only where more than half of all Sentinels name one other address: one that lost touch with the
 * others must not cost it. The connections to the Sentinels are kept, since a new one each second costs more than the question.
 */
final class MasterWatch {

    private static final Duration PERIOD = Duration.ofSeconds(1);

    /** How long a Sentinel that failed is left alone: Lettuce logs each attempt to connect to it. */
    private static final Duration REST = Duration.ofSeconds(5);

    private final Network network;
    private final Context context;
    private final String name;
    private final List<Seat> seats;
    private final ServerConnection connection;
    private final Supplier<RedisURI> place;

    private volatile boolean closed;

    /**
     * Begins without asking.
     *
     * @param connection is given up when it leads to the wrong master
     * @param place where it leads to
     */
    MasterWatch(Network network, RedisURI uri, Context context, ServerConnection connection, Supplier<RedisURI> place) {
        this.network = network;
        this.context = context;
        this.name = uri.getSentinelMasterId();
        this.seats = uri.getSentinels().stream().map(Seat::new).toList();
        this.connection = connection;
        this.place = place;
    }

    /** Asks from now on, the first time after one period. */
    void begin() {
        try {
            var unused = context.scheduler().schedule(this::look, PERIOD.toMillis(), TimeUnit.MILLISECONDS);
        } catch (RejectedExecutionException e) {
            // The locks were closed meanwhile.
        }
    }

    private void look() {
        Optional<Link> link = connection.link();
        if (link.isEmpty()) {
            // The next connection asks for itself.
            begin();
            return;
        }
        String here = Uris.address(place.get());
        List<CompletableFuture<Optional<String>>> answers =
                seats.stream().map(Seat::ask).toList();
        var unused = CompletableFuture.allOf(answers.toArray(CompletableFuture<?>[]::new))
                .thenRun(() -> {
                    majority(answers.stream()
                                    .flatMap(answer -> answer.join().stream())
                                    .toList())
                            .filter(there -> !there.equals(here))
                            .ifPresent(there ->
                                    connection.giveUp(link.get(), "most Sentinels name " + there + " the master now"));
                    begin();
                });
    }

    private Optional<String> majority(List<String> named) {
        Map<String, Long> votes =
                named.stream().collect(Collectors.groupingBy(Function.identity(), Collectors.counting()));
        return votes.entrySet().stream()
                .filter(vote -> 2 * vote.getValue() > seats.size())
                .map(Map.Entry::getKey)
                .findAny();
    }

    void close() {
        closed = true;
        seats.forEach(Seat::leave);
    }

    /** One Sentinel, and the connection to it. It is asked again only when its last answer is there. */
    private final class Seat {

        private final RedisURI sentinel;
        private volatile @Nullable StatefulRedisSentinelConnection<String, String> kept;
        private volatile long restingSince;
        private volatile boolean resting;

        Seat(RedisURI sentinel) {
            this.sentinel = sentinel;
        }

        /** The address that it names; none where it does not answer, or knows no such master. */
        CompletableFuture<Optional<String>> ask() {
            if (resting && context.clock().nanoTime() - restingSince < REST.toNanos()) {
                return CompletableFuture.completedFuture(Optional.empty());
            }
            resting = false;
            return connected()
                    .thenCompose(to -> to.async().getMasterAddrByName(name))
                    .orTimeout(PERIOD.toMillis(), TimeUnit.MILLISECONDS)
                    .handle((address, thrown) -> {
                        if (thrown != null) {
                            restingSince = context.clock().nanoTime();
                            resting = true;
                            leave();
                        }
                        return Sentinels.inet(address).map(inet -> inet.getHostString() + ":" + inet.getPort());
                    });
        }

        private CompletableFuture<StatefulRedisSentinelConnection<String, String>> connected() {
            StatefulRedisSentinelConnection<String, String> before = kept;
            if (before != null && before.isOpen()) {
                return CompletableFuture.completedFuture(before);
            }
            return network.connectSentinel(sentinel, PERIOD).thenApply(fresh -> {
                kept = fresh;
                if (closed) {
                    leave();
                }
                return fresh;
            });
        }

        void leave() {
            StatefulRedisSentinelConnection<String, String> last = kept;
            kept = null;
            if (last != null) {
                var unused = last.closeAsync();
            }
        }
    }
}
