package dev.fenceline.lock;

import static dev.fenceline.lock.Fixture.ACCOUNT;
import static dev.fenceline.lock.Fixture.eventually;
import static dev.fenceline.lock.Fixture.serverMicros;
import static org.assertj.core.api.Assertions.assertThat;

import dev.fenceline.FencedLease;
import dev.fenceline.FencingToken;
import dev.fenceline.LockOptions;
import dev.fenceline.Locks;
import dev.fenceline.testkit.FaultProxy;
import dev.fenceline.testkit.RedisProcess;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.UUID;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Tokens of any two majorities rise, and each simpler way to number grants repeats or turns back. */
@Tag("server")
class RedlockTokensTest {

    /** Two of the five nodes. */
    private record Pair(int one, int other) {

        boolean has(int node) {
            return node == one || node == other;
        }
    }

    private final LockOptions options = Fixture.options().build();
    private final List<FaultProxy> proxies = FiveServers.NODES.stream()
            .map(node -> FaultProxy.to(node.host(), node.port()))
            .toList();

    @AfterEach
    void closeProxies() {
        proxies.forEach(FaultProxy::close);
    }

    private static List<Pair> everyPair() {
        return IntStream.range(0, 5)
                .boxed()
                .flatMap(one -> IntStream.range(one + 1, 5).mapToObj(other -> new Pair(one, other)))
                .toList();
    }

    private static List<Integer> alive(Pair dead) {
        return IntStream.range(0, 5).filter(node -> !dead.has(node)).boxed().toList();
    }

    private void kill(Pair dead) {
        for (int node = 0; node < proxies.size(); node++) {
            if (dead.has(node)) {
                proxies.get(node).refuse();
            } else {
                proxies.get(node).heal();
            }
        }
    }

    /** The clocks of the nodes are as far apart as is tolerated, so that no clock keeps the order. */
    private static final List<Long> AHEAD = List.of(-4_000_000L, 2_000_000L, 4_000_000L, -2_000_000L, 0L);

    private List<String> throughProxies() {
        return proxies.stream()
                .map(proxy -> "redis://" + proxy.host() + ":" + proxy.port())
                .toList();
    }

    /** Each client remembers nothing, and each majority but the first has nodes that saw nothing of the grant before. */
    @Test
    void tokensRiseOverEveryPatternOfTwoDeadNodes() throws InterruptedException {
        var unused = FiveServers.redlock(options);
        long seed = System.nanoTime();
        List<Pair> patterns = new ArrayList<>(everyPair());
        Collections.shuffle(patterns, new Random(seed));
        List<Long> tokens = new ArrayList<>();
        for (Pair dead : patterns) {
            kill(dead);
            try (Locks locks = FiveServers.connect(throughProxies(), options, AHEAD, LockClock.system());
                    FencedLease lease = locks.fenced(ACCOUNT).acquire()) {
                tokens.add(lease.token().value());
                assertThat(FiveServers.taken(options, ACCOUNT)).isEqualTo(3);
            }
        }
        assertThat(rising(tokens))
                .as("%s rises, of %s, seed %s", tokens, patterns, seed)
                .isTrue();
    }

    /** The control: the middle clock of whoever is alive goes back when others are. */
    @Test
    void theClocksOfTheNodesAloneTurnBack() {
        List<Long> tokens = new ArrayList<>();
        for (Pair dead : everyPair()) {
            tokens.add(Proposal.median(alive(dead).stream()
                    .mapToLong(node -> serverMicros(FiveServers.NODES.get(node)) + AHEAD.get(node))
                    .toArray()));
        }
        assertThat(rising(tokens)).isFalse();
    }

    private static boolean rising(List<Long> tokens) {
        return IntStream.range(1, tokens.size()).allMatch(i -> tokens.get(i - 1) < tokens.get(i));
    }

    /** The control: with {1,2,3}, {1,4,5} and {2,3,4} the numbers are 1, 2 and 2. */
    @Test
    void incrementingAtEachNodeAndTakingTheHighestRepeats() {
        String counter = options.keyPrefix() + ":naive";
        List<Long> tokens = new ArrayList<>();
        for (Pair dead : List.of(new Pair(3, 4), new Pair(1, 2), new Pair(0, 4))) {
            long highest = 0;
            for (int node : alive(dead)) {
                highest = Math.max(
                        highest, Long.parseLong(FiveServers.NODES.get(node).command("INCR", counter)));
            }
            tokens.add(highest);
        }
        assertThat(new HashSet<>(tokens)).hasSizeLessThan(tokens.size());
        assertThat(rising(tokens)).isFalse();
    }

    /**
     * The control: the first round reads the counters of a majority, and the second one, which writes, counts any majority. Between
     * the two rounds of one, another took and released the lock at the nodes that the first had not read.
     */
    @Test
    void aSecondRoundAtNodesWhoseFirstAnswerWasNotUsedRepeats() {
        String counter = options.keyPrefix() + ":naive";
        long first = 1 + highest(counter, 0, 1, 2);
        long second = 1 + highest(counter, 2, 3, 4);
        write(counter, second, 2, 3, 4);
        // Here the first one is late. Its lock has run out at the nodes that it had, and those are free again.
        write(counter, first, 0, 3, 4);
        assertThat(first).isEqualTo(second);
    }

    private static long highest(String counter, int... nodes) {
        return IntStream.of(nodes)
                .mapToObj(node -> FiveServers.NODES.get(node).command("GET", counter))
                .mapToLong(value -> value.isEmpty() ? 0 : Long.parseLong(value))
                .max()
                .orElseThrow();
    }

    private static void write(String counter, long value, int... nodes) {
        for (int node : nodes) {
            String unused = FiveServers.NODES.get(node).command("SET", counter, Long.toString(value));
        }
    }

    /** The same with our nodes: those that have granted the token to somebody refuse it, and there is no majority of others. */
    @Test
    void aSecondRoundOfOursIsRefusedWhereTheTokenWasGrantedMeanwhile() {
        NodeCommands commands = new NodeCommands(options);
        FiveServers.NODES.forEach(commands::markAsNew);
        long token = serverMicros(FiveServers.NODES.get(0));
        UUID first = UUID.randomUUID();
        UUID second = UUID.randomUUID();
        for (RedisProcess node : FiveServers.NODES.subList(2, 5)) {
            assertThat(commands.acquire(node, second, token).get(0)).isEqualTo("granted");
            String unused = commands.release(node, second, "", Duration.ZERO);
        }
        assertThat(FiveServers.NODES.stream()
                        .map(node -> commands.acquire(node, first, token).get(0)))
                .containsExactly("granted", "granted", "behind", "behind", "behind");
    }

    /** The control: nodes that look only whether the lock is free grant a command that comes twice a second time, after others. */
    @Test
    void aReplayedAcquireTurnsBackWhereNodesOnlyLookWhetherTheLockIsFree() {
        String lock = options.keyPrefix() + ":naive";
        assertThat(naive(lock, "one", 1)).isEqualTo(5);
        FiveServers.NODES.forEach(node -> node.command("DEL", lock));
        assertThat(naive(lock, "two", 2)).isEqualTo(5);
        FiveServers.NODES.forEach(node -> node.command("DEL", lock));
        // All answers are those of a grant, and its token is older than one that was granted before.
        assertThat(naive(lock, "one", 1)).isEqualTo(5);
    }

    private static long naive(String lock, String holder, long token) {
        return FiveServers.NODES.stream()
                .filter(node ->
                        node.command("SET", lock, holder + "|" + token, "NX").equals("OK"))
                .count();
    }

    @Test
    void aReplayedAcquireOfOursIsRefusedEverywhere() {
        NodeCommands commands = new NodeCommands(options);
        FiveServers.NODES.forEach(commands::markAsNew);
        UUID one = UUID.randomUUID();
        UUID two = UUID.randomUUID();
        long token = serverMicros(FiveServers.NODES.get(0));
        for (RedisProcess node : FiveServers.NODES) {
            assertThat(commands.acquire(node, one, token).get(0)).isEqualTo("granted");
            String unused = commands.release(node, one, "", Duration.ZERO);
            assertThat(commands.acquire(node, two, token + 1).get(0)).isEqualTo("granted");
            String unusedToo = commands.release(node, two, "", Duration.ZERO);
        }
        assertThat(FiveServers.NODES)
                .allSatisfy(node ->
                        assertThat(commands.acquire(node, one, token).get(0)).isEqualTo("behind"));
    }

    private static final long HOUR = 3_600_000_000L;

    /** Nodes 0, 1 and 2 grant a token an hour ahead of their clocks, node 2 forgets it, and then 0 and 1 are away. */
    private long grantAheadAndForgetWhereMajoritiesMeet(Locks locks) throws InterruptedException {
        long mark = serverMicros(FiveServers.NODES.get(0)) + HOUR;
        locks.fenced(ACCOUNT).raiseFloor(new FencingToken(ACCOUNT, mark, UUID.randomUUID()));
        long token;
        kill(new Pair(3, 4));
        try (FencedLease lease = locks.fenced(ACCOUNT).acquire()) {
            token = lease.token().value();
            assertThat(token).isGreaterThan(mark);
        }
        RedisProcess shared = FiveServers.NODES.get(2);
        KeySpace keys = new KeySpace(options.keyPrefix());
        LockKey lock = Fixture.fenced(ACCOUNT);
        eventually("it was released", () -> FiveServers.taken(options, ACCOUNT) == 0);
        shared.command("DEL", keys.node(), keys.floor(lock), keys.lock(lock));
        kill(new Pair(0, 1));
        return token;
    }

    private RedlockConnector withoutDelay() {
        return Redlock.of(throughProxies().toArray(String[]::new))
                .options(options)
                .nodeTimeout(FiveServers.NODE_TIMEOUT)
                .withoutRestartDelay();
    }

    @Test
    void aClientThatKnowsATokenAheadOfTheClocksPassesItThoughTheNodesForgotIt() throws InterruptedException {
        var unused = FiveServers.redlock(options);
        try (Locks locks = withoutDelay().connect()) {
            long token = grantAheadAndForgetWhereMajoritiesMeet(locks);
            try (FencedLease lease = locks.fenced(ACCOUNT).acquireWithin(Duration.ofSeconds(20))) {
                assertThat(lease.token().value()).isGreaterThan(token);
            }
        }
    }

    /** Here the promise ends, and the fence takes over: it refuses the lower one, and what passes its mark is above all. */
    @Test
    void whereNobodyRemembersATokenAheadOfTheClocksTheOrderIsLostUntilAFenceTellsOfIt() throws InterruptedException {
        var unused = FiveServers.redlock(options);
        try (Locks locks = withoutDelay().connect();
                Locks others = withoutDelay().connect()) {
            long token = grantAheadAndForgetWhereMajoritiesMeet(locks);
            try (FencedLease lease = others.fenced(ACCOUNT).acquireWithin(Duration.ofSeconds(20))) {
                assertThat(lease.token().value()).isLessThan(token);
            }
            others.fenced(ACCOUNT).raiseFloor(new FencingToken(ACCOUNT, token, UUID.randomUUID()));
            try (FencedLease lease = others.fenced(ACCOUNT).acquireWithin(Duration.ofSeconds(20))) {
                assertThat(lease.token().value()).isGreaterThan(token);
            }
        }
    }
}
