package dev.fenceline.bench;

import dev.fenceline.FencedLease;
import dev.fenceline.FencedLock;
import dev.fenceline.LockName;
import dev.fenceline.LockOptions;
import dev.fenceline.Locks;
import dev.fenceline.bench.Contestant.Mutex;
import dev.fenceline.lock.RedisLocks;
import dev.fenceline.lock.Redlock;
import dev.fenceline.testkit.EmbeddedServers;
import dev.fenceline.testkit.RedisProcess;
import dev.fenceline.testkit.RedisSpec;
import dev.fenceline.testkit.Servers;
import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisURI;
import io.lettuce.core.api.async.RedisAsyncCommands;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.redisson.Redisson;
import org.redisson.RedissonRedLock;
import org.redisson.api.RLock;
import org.redisson.api.RedissonClient;
import org.redisson.config.Config;

/** One thread takes and gives back one lock, at one server and at a majority of several. */
final class IndependentMasters implements Scenario {

    private static final int MOST_NODES = 5;

    /** Who runs. */
    private enum Way {
        PING_SINGLE("PING and PING by Lettuce, one server"),
        PING_THREE("PING and PING at each of 3, two answers awaited"),
        PING_FIVE("PING and PING at each of 5, three answers awaited"),
        SINGLE("Fenceline, one server"),
        THREE("Fenceline, Redlock of 3"),
        FIVE("Fenceline, Redlock of 5"),
        REDISSON_THREE("Redisson RedLock of 3"),
        REDISSON_FIVE("Redisson RedLock of 5");

        private final String label;

        Way(String label) {
            this.label = label;
        }
    }

    @Override
    public String id() {
        return "redlock";
    }

    @Override
    public Section run(Settings settings) throws Exception {
        try (Parties parties = new Parties()) {
            Paired<Way> cycles = new Rounds(settings)
                    .run(List.of(Way.values()), (way, phase) -> nanosPerCycle(settings, parties.mutex(way)));
            return section(cycles);
        }
    }

    private static double nanosPerCycle(Settings settings, Mutex lock) throws Exception {
        long start = System.nanoTime();
        long end = start + settings.slice().toNanos();
        long now = start;
        int cycles = 0;
        while (now - end < 0) {
            lock.enter().leave();
            cycles++;
            now = System.nanoTime();
        }
        return (double) (now - start) / cycles;
    }

    private static Section section(Paired<Way> cycles) {
        Table table = new Table("", "µs a cycle", "× one server");
        for (Way way : Way.values()) {
            table.row(
                    way.label,
                    Table.micros(cycles.of(way).median()),
                    cycles.ratio(way, Way.SINGLE).ratio());
        }
        return new Section(
                "redlock",
                table.toString(),
                List.of(
                        Target.atMost("Redlock of 3, × one server", 2, cycles.ratio(Way.THREE, Way.SINGLE)),
                        Target.atMost("Redlock of 5, × one server", 2.5, cycles.ratio(Way.FIVE, Way.SINGLE)),
                        Target.atLeast("Redisson RedLock of 3, × ours", 3, cycles.ratio(Way.REDISSON_THREE, Way.THREE)),
                        Target.atLeast("Redisson RedLock of 5, × ours", 3, cycles.ratio(Way.REDISSON_FIVE, Way.FIVE))));
    }

    /** Five servers, and everybody connected to as many of them as he needs. */
    private static final class Parties implements AutoCloseable {

        private final EmbeddedServers servers = Servers.embedded();
        private final RedisClient lettuce = RedisClient.create();
        private final List<RedissonClient> clients = new ArrayList<>();
        private final List<Locks> locks = new ArrayList<>();
        private final Map<Way, Mutex> mutexes = new EnumMap<>(Way.class);

        Parties() {
            List<String> nodes = IntStream.range(0, MOST_NODES)
                    .mapToObj(node -> servers.redis(RedisSpec.master()))
                    .map(RedisProcess::uri)
                    .toList();
            for (String node : nodes) {
                Config config = new Config();
                config.useSingleServer().setAddress(node);
                clients.add(Redisson.create(config));
            }
            List<RedisAsyncCommands<String, String>> connected = nodes.stream()
                    .map(node -> lettuce.connect(RedisURI.create(node)).async())
                    .toList();
            mutexes.put(Way.PING_SINGLE, pings(connected.subList(0, 1)));
            mutexes.put(Way.PING_THREE, pings(connected.subList(0, 3)));
            mutexes.put(Way.PING_FIVE, pings(connected));
            // K is zero, as in the other scenarios. The node timeout is no part of what is measured; a busy machine
            // must not end a run.
            mutexes.put(Way.SINGLE, fenceline(RedisLocks.connect(nodes.get(0), options("single"))));
            mutexes.put(Way.THREE, fenceline(redlock(nodes.subList(0, 3), options("three"))));
            mutexes.put(Way.FIVE, fenceline(redlock(nodes, options("five"))));
            mutexes.put(Way.REDISSON_THREE, redisson(clients.subList(0, 3)));
            mutexes.put(Way.REDISSON_FIVE, redisson(clients));
        }

        private static LockOptions options(String prefix) {
            return LockOptions.builder()
                    .keyPrefix(prefix)
                    .masterClockSkew(Duration.ZERO)
                    .build();
        }

        private static Locks redlock(List<String> nodes, LockOptions options) {
            return Redlock.of(nodes.toArray(String[]::new))
                    .options(options)
                    .nodeTimeout(Duration.ofMillis(500))
                    .firstStart()
                    .connect();
        }

        /** The least that it costs to ask all of them twice and to hear a majority, through this client on this machine. */
        private static Mutex pings(List<RedisAsyncCommands<String, String>> nodes) {
            return () -> {
                ping(nodes);
                return () -> ping(nodes);
            };
        }

        private static void ping(List<RedisAsyncCommands<String, String>> nodes) throws InterruptedException {
            CountDownLatch majority = new CountDownLatch(nodes.size() / 2 + 1);
            for (RedisAsyncCommands<String, String> node : nodes) {
                var unused = node.ping().thenRun(majority::countDown); // one that fails is no answer
            }
            if (!majority.await(10, TimeUnit.SECONDS)) {
                throw new IllegalStateException("No majority of " + nodes.size() + " servers has answered to PING.");
            }
        }

        private Mutex fenceline(Locks connected) {
            locks.add(connected);
            FencedLock lock = connected.fenced(LockName.of("bench", "redlock"));
            return () -> {
                FencedLease lease = lock.acquire();
                return lease::close;
            };
        }

        /** There is no other way to say it, though the library would rather have it unsaid. */
        @SuppressWarnings("deprecation")
        private static Mutex redisson(List<RedissonClient> nodes) {
            String name = "redlock-of-" + nodes.size();
            RLock lock = new RedissonRedLock(
                    nodes.stream().map(node -> node.getLock(name)).toArray(RLock[]::new));
            return () -> {
                lock.lock();
                return lock::unlock;
            };
        }

        Mutex mutex(Way way) {
            Mutex mutex = mutexes.get(way);
            if (mutex == null) {
                throw new IllegalStateException(way + " is not connected.");
            }
            return mutex;
        }

        @Override
        public void close() {
            locks.forEach(Locks::close);
            clients.forEach(RedissonClient::shutdown);
            lettuce.shutdown();
            servers.close();
        }
    }
}
