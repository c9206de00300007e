package dev.fenceline.verification.torture;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.fenceline.testkit.ChildJvm;
import dev.fenceline.testkit.FaultProxy;
import dev.fenceline.testkit.RedisProcess;
import dev.fenceline.testkit.RedisServer;
import dev.fenceline.verification.torture.Deployment.Fault;
import dev.fenceline.verification.torture.Journal.Grant;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/**
 * One run: processes that contend for locks, faults one after the other with quiet times between them, and afterwards a look at
 * what the processes wrote down and at what they left behind.
 *
 * <p>The first process reaches the servers through proxies, so that it alone can be cut off. The others go straight.
 */
final class TortureRun implements AutoCloseable {

    static final String PREFIX = "torture";
    private static final Duration LIMIT = Duration.ofSeconds(60);
    private static final Duration PARTITION = Duration.ofSeconds(5);

    /** After this time nothing that was on its way before a partition is still being written down. */
    private static final Duration CUT_OFF = Duration.ofSeconds(1);

    private static final int MOMENTS = 10;

    /** A connection of which nobody says goodbye is missed within two heartbeats of 5 s. */
    private static final Duration LEFT_BEHIND = Duration.ofSeconds(15);

    /** Of all processes but the busiest, for each second; a slow machine has ten times as many. */
    private static final int LEAST_GRANTS_A_SECOND = 5;

    private final Deployment deployment;
    private final Path directory;
    private final Map<Integer, FaultProxy> proxies = new HashMap<>();
    private final List<ChildJvm> clients = new ArrayList<>();
    private final List<Footprint> footprints = new ArrayList<>();
    private final List<Outage> outages = new ArrayList<>();
    private final CountDownLatch never = new CountDownLatch(1);

    TortureRun(Deployment deployment, Path directory) {
        this.deployment = deployment;
        this.directory = directory;
    }

    /** Lets every fault happen within the given time, or a little more if the servers take longer to recover. */
    void run(Duration length) {
        startClients();
        List<Fault> faults = new ArrayList<>(deployment.faults(this::hold));
        faults.add(
                1,
                new Fault(
                        "a partition of one client of 5 s",
                        this::partition,
                        () -> {},
                        Outage.Masters.ONE,
                        behindNoProxy()));
        long began = System.nanoTime();
        Duration least = length.dividedBy(10);
        for (int i = 0; i < faults.size(); i++) {
            // What is left of the time, less what faults take, in equal parts before, between and behind them.
            Duration left =
                    length.minusNanos(System.nanoTime() - began).minus(PARTITION.multipliedBy(faults.size() - i));
            holdAtLeast(least, left.dividedBy(faults.size() - i + 1));
            if (i == 0) {
                footprints.addAll(takeFootprints());
            }
            strike(faults.get(i));
        }
        holdAtLeast(deployment.bounds().recovery().plusSeconds(2), length.minusNanos(System.nanoTime() - began));
        verifyNothingWasLeftBehind();
        stopClients();
    }

    private void startClients() {
        for (RedisServer endpoint : deployment.endpoints()) {
            proxies.put(endpoint.port(), FaultProxy.to(endpoint.host(), endpoint.port()));
        }
        Map<Integer, Integer> detours = proxies.entrySet().stream()
                .collect(Collectors.toMap(
                        Map.Entry::getKey, proxy -> proxy.getValue().port()));
        Access straight = deployment.access();
        long before = System.nanoTime();
        for (int i = 0; i < Clients.PROCESSES; i++) {
            Access access = (i == 0 ? straight.through(detours) : straight).named(connectionName(i));
            clients.add(ChildJvm.start(
                    Client.class, access.encode(), PREFIX, journal(i).toString()));
        }
        for (ChildJvm client : clients) {
            long there = Long.parseLong(client.awaitLine("clock ", LIMIT).substring(6));
            assertThat(there).as("the processes of this machine read one clock").isBetween(before, System.nanoTime());
        }
    }

    private static String connectionName(int client) {
        return PREFIX + "-" + name(client);
    }

    /** What each process takes up; the least of some moments, without what comes and goes. */
    private List<Footprint> takeFootprints() {
        List<Footprint> least = new ArrayList<>();
        for (int i = 0; i < Clients.PROCESSES; i++) {
            Footprint footprint = footprint(i);
            for (int moment = 1; moment < MOMENTS; moment++) {
                hold(Duration.ofMillis(50));
                footprint = footprint.atLeast(footprint(i));
            }
            // Or the processes were not told apart, and the comparison afterwards would see nothing.
            assertThat(footprint.count("connections at servers"))
                    .as("connections of process %d in %s", i, footprint)
                    .isPositive();
            assertThat(footprint.count("subscriptions at servers"))
                    .as("subscriptions of process %d in %s", i, footprint)
                    .isEqualTo(deployment.subscriptions());
            least.add(footprint.withFullPools());
        }
        System.out.println(deployment.access().kind() + ": " + least);
        return least;
    }

    private Footprint footprint(int client) {
        clients.get(client).send("threads");
        String threads = clients.get(client).awaitLine("threads now: ", LIMIT).substring(13);
        return Footprint.connections(connectionName(client), deployment.servers(), deployment.sentinels())
                .and(Footprint.parse(threads));
    }

    /** While the processes still use their locks: closing these would end all connections and threads, also forgotten ones. */
    private void verifyNothingWasLeftBehind() {
        for (int i = 0; i < Clients.PROCESSES; i++) {
            int client = i;
            await("process " + i + " takes up no more than before all faults")
                    .atMost(LEFT_BEHIND)
                    .untilAsserted(() -> {
                        Footprint now = footprint(client);
                        assertThat(now.beyond(footprints.get(client))).isEmpty();
                        assertThat(now.count("subscriptions at servers")).isEqualTo(deployment.subscriptions());
                    });
        }
    }

    private Path journal(int client) {
        return directory.resolve(name(client));
    }

    private static String name(int client) {
        return "client-" + client;
    }

    private void strike(Fault fault) {
        long from = System.nanoTime();
        fault.strike().run();
        long to = System.nanoTime();
        fault.settle().run();
        outages.add(new Outage(fault.name(), from, to, System.nanoTime(), fault.masters(), fault.spared()));
    }

    private static Set<String> behindNoProxy() {
        return IntStream.range(1, Clients.PROCESSES).mapToObj(TortureRun::name).collect(Collectors.toSet());
    }

    private void partition() {
        proxies.values().forEach(FaultProxy::blackhole);
        hold(PARTITION);
        proxies.values().forEach(FaultProxy::heal);
    }

    private void holdAtLeast(Duration least, Duration wanted) {
        hold(wanted.compareTo(least) < 0 ? least : wanted);
    }

    private void hold(Duration duration) {
        long deadline = System.nanoTime() + duration.toNanos();
        try {
            for (long left = duration.toNanos(); left > 0; left = deadline - System.nanoTime()) {
                clients.forEach(client -> assertThat(client.state())
                        .as("state of process %d", client.pid())
                        .isNotIn('Z', 'X'));
                never.await(Math.min(left, TimeUnit.MILLISECONDS.toNanos(500)), TimeUnit.NANOSECONDS);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("Interrupted in the middle of a run.", e);
        }
    }

    private void stopClients() {
        clients.forEach(client -> client.send("stop"));
        for (ChildJvm client : clients) {
            client.awaitLine("stopped", LIMIT);
            assertThat(client.awaitLine("threads left: ", LIMIT))
                    .as("threads of a process whose locks are closed")
                    .isEqualTo("threads left: []");
            assertThat(client.awaitExit(LIMIT)).isZero();
        }
    }

    /** What was written down breaks no rule, and there was enough of it. */
    void verify() {
        Journal journal = Journal.read(
                IntStream.range(0, Clients.PROCESSES).mapToObj(this::journal).toList());
        System.out.println(deployment.access().kind() + ": " + journal.grants().size() + " grants, "
                + journal.refusals().size() + " refusals, " + journal.stalls().size() + " stalls; " + describe());
        assertThat(JournalCheck.violations(journal, outages, deployment.bounds()))
                .isEmpty();
        outages.stream()
                .filter(outage -> !outage.spared().isEmpty())
                .forEach(outage -> assertThat(journal.grants())
                        .as("a process that is cut off gets nothing, or it went around its proxies")
                        .noneMatch(grant -> !outage.spared().contains(grant.process())
                                && grant.granted() > outage.from() + CUT_OFF.toNanos()
                                && grant.granted() < outage.to()));
        verifyEnough(journal);
        assertThat(journal.refusals())
                .as("a run in which nobody ever waited in vain had no faults")
                .isNotEmpty();
    }

    /** One process alone, however fast, is not enough; nor is the time before the first fault. */
    private void verifyEnough(Journal journal) {
        Map<String, Long> byProcess =
                journal.grants().stream().collect(Collectors.groupingBy(Grant::process, Collectors.counting()));
        assertThat(byProcess.keySet())
                .isEqualTo(IntStream.range(0, Clients.PROCESSES)
                        .mapToObj(TortureRun::name)
                        .collect(Collectors.toSet()));
        List<CalmCheck.Stretch> stretches = CalmCheck.stretches(journal, outages, deployment.bounds());
        assertThat(stretches).as("calm stretches, before and after all faults").hasSizeGreaterThanOrEqualTo(2);
        long calm = stretches.stream().mapToLong(CalmCheck.Stretch::ran).sum();
        long all = journal.grants().size();
        long busiest =
                byProcess.values().stream().mapToLong(Long::longValue).max().orElse(0);
        assertThat(all - busiest)
                .as("grants of all processes but the busiest, of " + byProcess)
                .isGreaterThan(LEAST_GRANTS_A_SECOND * TimeUnit.NANOSECONDS.toSeconds(calm));
    }

    private String describe() {
        return outages.stream()
                .map(outage -> outage.name() + " (" + TimeUnit.NANOSECONDS.toMillis(outage.to() - outage.from())
                        + " of " + TimeUnit.NANOSECONDS.toMillis(outage.settled() - outage.from()) + " ms)")
                .collect(Collectors.joining(", "));
    }

    /** No subscription of ours is left at any server, and nothing in the data but what a bucket keeps. */
    void verifyNothingIsLeft() {
        for (RedisProcess server : deployment.servers()) {
            await("no subscription of a client is left on " + server)
                    .atMost(LIMIT)
                    .untilAsserted(() -> {
                        assertThat(server.command("PUBSUB", "CHANNELS", PREFIX + "*"))
                                .isEmpty();
                        assertThat(server.command("CLIENT", "LIST", "TYPE", "pubsub")
                                        .lines())
                                // Sentinels subscribe to the servers that they watch.
                                .allMatch(line -> line.contains(" name=sentinel-"));
                    });
        }
        for (RedisProcess master : deployment.masters()) {
            await("keys of locks have gone from " + master)
                    .atMost(Clients.LEASE.plusSeconds(5))
                    .untilAsserted(() -> assertThat(master.command("KEYS", "*").lines())
                            .allMatch(key -> key.matches(PREFIX + ":v1:" + deployment.keysThatStay())));
        }
    }

    @Override
    public void close() {
        clients.forEach(ChildJvm::close);
        proxies.values().forEach(FaultProxy::close);
    }
}
