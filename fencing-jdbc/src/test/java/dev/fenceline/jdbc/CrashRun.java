package dev.fenceline.jdbc;

import static org.assertj.core.api.Assertions.assertThat;

import dev.fenceline.BackendUnavailableException;
import dev.fenceline.FencedLease;
import dev.fenceline.FencedLock;
import dev.fenceline.FencingToken;
import dev.fenceline.LockName;
import dev.fenceline.OutcomeUnknownException;
import dev.fenceline.OutcomeUnknownException.Resolution;
import dev.fenceline.StaleTokenException;
import dev.fenceline.testkit.PostgresProcess;
import dev.fenceline.testkit.PostgresSpec;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.TreeMap;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;

/**
 * Two writers of one account, of whom each often believes that it still holds a lock that the other has, and a server that dies
 * at random moments and comes back. Every unit is in one of four ways: acknowledged, refused, certainly not done, or unknown and
 * then resolved; the log of the account says whether that was true.
 */
final class CrashRun implements AutoCloseable {

    private static final int WRITERS = 2;
    private static final int LONGEST_SESSION = 6;
    private static final int RESOLUTIONS = 20;
    private static final Duration LIMIT = Duration.ofSeconds(60);

    private final PostgresProcess server;
    private final Movements movements;
    private final FencedLock lock;
    private final CrashWork work;
    private final Outage outage = new Outage();
    private final long seed = Long.getLong("fenceline.crash.seed", System.nanoTime());
    private final Random random = new Random(seed);
    private final ExecutorService threads = Executors.newFixedThreadPool(WRITERS);
    private final List<Future<?>> writers = new ArrayList<>();
    private final Map<String, Integer> counts = new ConcurrentHashMap<>();
    private final AtomicReference<Optional<FencingToken>> acknowledged = new AtomicReference<>(Optional.empty());
    private volatile CountDownLatch progress = new CountDownLatch(0);
    private volatile boolean stopped;
    private int crashes;

    /** A server that syncs, and takes its time for it: so it often dies with a commit under way. */
    static PostgresSpec server() {
        return PostgresSpec.primary()
                .durable()
                .setting("commit_delay", "10000")
                .setting("commit_siblings", "0")
                .setting("autovacuum", "off");
    }

    /** Writers whose work is transactions under a guard. */
    static CrashRun ofUnits(PostgresProcess server, TestDatabase database, int account) {
        Movements movements = new Movements(database, account);
        return new CrashRun(server, movements, Grants.freshLock(), CrashWork.Units.on(database, movements));
    }

    /** Writers whose work is statements of row mode. */
    static CrashRun ofRows(PostgresProcess server, TestDatabase database, int account) {
        LockName name = Grants.freshLock();
        return new CrashRun(server, new Movements(database, account), name, CrashWork.Rows.on(database, account, name));
    }

    private CrashRun(PostgresProcess server, Movements movements, LockName name, CrashWork work) {
        this.server = server;
        this.movements = movements;
        this.lock = Grants.lock(name);
        this.work = work;
        System.out.println("Crashes with seed " + seed + " (-Dfenceline.crash.seed)");
        for (int i = 0; i < WRITERS; i++) {
            Random choices = new Random(random.nextLong());
            writers.add(threads.submit(() -> {
                write(choices);
                return null;
            }));
        }
    }

    /** Lets the writers take some steps, kills the server wherever they are then, and starts it again. */
    void crash() throws Exception {
        awaitSteps(30 + random.nextInt(150));
        outage.begin();
        server.crash();
        crashes++;
        server.restart();
        acknowledged.get().ifPresent(claimed -> {
            FencingToken mark = work.mark(claimed);
            // Of two claims with one number only one is acknowledged, so a mark of that number is that one.
            assertThat(mark.value() > claimed.value() || mark.equals(claimed))
                    .as(
                            "seed %d: after crash %d the mark is %s, and the claim of %s was acknowledged",
                            seed, crashes, mark, claimed)
                    .isTrue();
        });
        outage.end();
    }

    private void awaitSteps(int steps) throws Exception {
        CountDownLatch taken = new CountDownLatch(steps);
        progress = taken;
        if (!taken.await(LIMIT.toSeconds(), TimeUnit.SECONDS)) {
            for (Future<?> writer : writers) {
                if (writer.isDone()) {
                    rethrow(writer);
                }
            }
            throw new AssertionError("seed " + seed + ": within " + LIMIT.toSeconds() + " s the writers took only "
                    + (steps - taken.getCount()) + " of " + steps + " steps; so far " + counts);
        }
    }

    /** Lets the writers end. */
    void finish() throws Exception {
        awaitSteps(30);
        stopped = true;
        for (Future<?> writer : writers) {
            rethrow(writer);
        }
    }

    private void rethrow(Future<?> writer) throws Exception {
        try {
            writer.get(LIMIT.toSeconds(), TimeUnit.SECONDS);
        } catch (ExecutionException e) {
            throw new AssertionError("seed " + seed + ": a writer has failed", e.getCause());
        }
    }

    /** What the clients were told is what the log says, and there was enough of it. */
    void verify() {
        System.out.println(crashes + " crashes with seed " + seed + ": " + new TreeMap<>(counts));
        assertThat(movements.violations()).as("seed %d", seed).isEmpty();
        assertThat(counts.getOrDefault("applied", 0))
                .as("seed %d: %s", seed, counts)
                .isGreaterThan(crashes);
        assertThat(counts.getOrDefault("claimed", 0))
                .as("seed %d: %s", seed, counts)
                .isGreaterThan(crashes);
    }

    private void write(Random choices) throws Exception {
        while (!stopped) {
            try {
                session(choices);
            } catch (StaleTokenException e) {
                count("refused");
            } catch (BackendUnavailableException e) {
                count("unavailable");
                outage.awaitEnd();
            }
        }
    }

    private void session(Random choices) throws Exception {
        FencedLease lease = lock.acquireWithin(LIMIT);
        try {
            boolean losesLock = choices.nextInt(3) > 0;
            if (losesLock) {
                // And does not know it, as after a pause: the next holder is on its way, and the fence has to decide.
                lease.close();
            }
            step();
            CrashWork.Claimed claim = work.claim(lease.token());
            acknowledged.accumulateAndGet(Optional.of(lease.token()), CrashRun::newer);
            count("claimed");
            step();
            for (int units = 1 + choices.nextInt(LONGEST_SESSION); units > 0; units--) {
                unit(claim, 1 + choices.nextInt(9));
            }
        } finally {
            lease.close();
        }
    }

    private void unit(CrashWork.Claimed claim, long amount) throws Exception {
        UUID operation = UUID.randomUUID();
        try {
            claim.move(operation, amount, this::step);
            step();
            count("applied");
            movements.believe(operation, Movements.Belief.APPLIED);
        } catch (OutcomeUnknownException e) {
            Resolution resolution = settle(e);
            count("unknown, then " + resolution);
            movements.believe(operation, Movements.Belief.valueOf(resolution.name()));
        } catch (StaleTokenException | BackendUnavailableException e) {
            movements.believe(operation, Movements.Belief.NEVER_APPLIED);
            throw e;
        }
    }

    private Resolution settle(OutcomeUnknownException unknown) {
        for (int i = 1; ; i++) {
            outage.awaitEnd();
            try {
                return unknown.resolve();
            } catch (OutcomeUnknownException still) {
                if (i == RESOLUTIONS) {
                    throw still;
                }
            }
        }
    }

    private static Optional<FencingToken> newer(Optional<FencingToken> known, Optional<FencingToken> fresh) {
        boolean rises =
                known.isEmpty() || known.get().value() < fresh.orElseThrow().value();
        return rises ? fresh : known;
    }

    private void step() {
        progress.countDown();
    }

    private void count(String what) {
        counts.merge(what, 1, Integer::sum);
    }

    @Override
    public void close() {
        stopped = true;
        outage.end();
        threads.shutdownNow();
    }
}
