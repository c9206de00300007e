package dev.fenceline.verification.torture;

import dev.fenceline.LockOptions;
import dev.fenceline.testkit.EmbeddedServers;
import dev.fenceline.testkit.RedisProcess;
import dev.fenceline.testkit.RedisServer;
import dev.fenceline.testkit.RedisSpec;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.IntStream;

/**
 * Five masters that know nothing of each other and keep nothing over a restart. Faults strike nodes by chance; a node that forgot
 * something has its delay before the next one is struck.
 */
final class IndependentMasters implements Deployment {

    /** Of a node that restarted: a lease, and a moment to be found again. */
    private static final Duration DELAY = Clients.LEASE.plusSeconds(1);

    private static final Duration AWAY = Duration.ofSeconds(2);

    private final List<RedisProcess> nodes;
    private final Random chance;

    IndependentMasters(EmbeddedServers servers) {
        nodes = IntStream.range(0, 5)
                .mapToObj(node -> servers.redis(RedisSpec.master()))
                .toList();
        long seed = System.nanoTime();
        System.out.println("REDLOCK: seed of the nodes that are struck: " + seed);
        chance = new Random(seed);
        access().firstStart(LockOptions.builder()
                .keyPrefix(TortureRun.PREFIX)
                .lease(Clients.LEASE)
                .commandTimeout(Clients.COMMAND_TIMEOUT)
                .build());
    }

    @Override
    public Access access() {
        return new Access(
                Access.Kind.REDLOCK, nodes.stream().map(RedisProcess::uri).toList(), Map.of());
    }

    @Override
    public List<RedisServer> endpoints() {
        return List.copyOf(nodes);
    }

    @Override
    public List<RedisProcess> servers() {
        return nodes;
    }

    @Override
    public List<RedisProcess> masters() {
        return nodes;
    }

    @Override
    public int subscriptions() {
        return 0;
    }

    @Override
    public String keysThatStay() {
        return "\\{redlock}:node";
    }

    @Override
    public JournalCheck.Bounds bounds() {
        return Clients.boundsWithoutOrder();
    }

    @Override
    public List<Fault> faults(Pace pace) {
        return List.of(
                killed("a kill of a node", 1, pace),
                paused("a pause of two nodes", 2, pace),
                killed("a kill of two nodes", 2, pace),
                fault(
                        "a loss of all data of a node",
                        () -> {
                            String unused = some(1).get(0).command("FLUSHALL");
                        },
                        () -> pace.hold(DELAY)),
                paused("a pause of three nodes", 3, pace));
    }

    private Fault killed(String name, int number, Pace pace) {
        AtomicReference<List<RedisProcess>> struck = new AtomicReference<>(List.of());
        return fault(
                name,
                () -> {
                    struck.set(some(number));
                    struck.get().forEach(RedisProcess::kill);
                    pace.hold(AWAY);
                },
                () -> {
                    struck.get().forEach(RedisProcess::restart);
                    pace.hold(DELAY);
                });
    }

    private Fault paused(String name, int number, Pace pace) {
        return fault(
                name,
                () -> {
                    List<RedisProcess> struck = some(number);
                    struck.forEach(RedisProcess::pause);
                    pace.hold(AWAY);
                    struck.forEach(RedisProcess::resume);
                },
                () -> {});
    }

    private static Fault fault(String name, Runnable strike, Runnable settle) {
        return new Fault(name, strike, settle, Outage.Masters.MAJORITY, Set.of());
    }

    private List<RedisProcess> some(int number) {
        List<RedisProcess> shuffled = new ArrayList<>(nodes);
        Collections.shuffle(shuffled, chance);
        return shuffled.subList(0, number);
    }
}
