package dev.fenceline.jdbc;

import static org.assertj.core.api.Assertions.assertThat;

import dev.fenceline.BackendUnavailableException;
import dev.fenceline.FencedLease;
import dev.fenceline.FencingToken;
import dev.fenceline.LockName;
import dev.fenceline.Locks;
import dev.fenceline.OutcomeUnknownException;
import dev.fenceline.OutcomeUnknownException.Resolution;
import dev.fenceline.testkit.FaultProxy;
import dev.fenceline.testkit.FaultProxy.Armed;
import dev.fenceline.testkit.FaultProxy.Cut;
import java.time.Duration;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import javax.sql.DataSource;

/** A client with a lock, a claim and some work, which is brought to one step of that and kept there until its server dies. */
abstract class CrashingClient<S extends Enum<S> & CrashingClient.Step> {

    private static final Duration LIMIT = Duration.ofSeconds(30);

    /** What keeps the client at its step. */
    enum Keeper {
        LATCH,
        PREPARED_TRANSACTION,
        HELD_REQUEST,
        HELD_REPLY
    }

    /** How far the client gets. */
    interface Step {
        Keeper keeper();

        /** What is in the request that is held, or whose reply is. */
        String marker();
    }

    /** When the client turns to the server again after it has lost it. */
    enum Return {
        AT_ONCE,
        WHEN_IT_IS_BACK
    }

    final S step;
    final Return back;
    final UUID operation = UUID.randomUUID();
    final LockName lock = Grants.freshLock();
    final FencingToken older;
    final FencedLease lease;
    final Movements movements;
    final TestDatabase database;
    final String name;

    private final FaultProxy proxy;
    private final DataSource source;
    private final Optional<Armed> fault;
    private final CountDownLatch arrived = new CountDownLatch(1);
    private final CountDownLatch goOn = new CountDownLatch(1);
    private Optional<Future<?>> running = Optional.empty();
    private Optional<Throwable> failure = Optional.empty();

    CrashingClient(S step, Return back, TestDatabase database, Locks locks, int account, Outage outage) {
        this.step = step;
        this.back = back;
        this.database = database;
        this.name = "client-" + account;
        this.movements = new Movements(database, account);
        older = Grants.next(lock);
        lease = locks.fenced(lock).tryAcquire().orElseThrow();
        proxy = FaultProxy.to(database.server().host(), database.server().port());
        fault = switch (step.keeper()) {
            case HELD_REQUEST -> Optional.of(proxy.onRequest(step.marker()).holdRequest());
            case HELD_REPLY -> Optional.of(proxy.onRequest(step.marker()).holdReply());
            case LATCH, PREPARED_TRANSACTION -> Optional.empty();
        };
        var through = database.sourceAt(proxy.host(), proxy.port());
        through.setApplicationName(name);
        source = new HookedSource(through, number -> {
            if (back == Return.WHEN_IT_IS_BACK) {
                outage.awaitEnd();
            }
        });
    }

    /** A holder before this one claims. */
    abstract void prepare() throws Exception;

    /** Claims and works; in a thread of its own. */
    abstract void work() throws Exception;

    /** What the client reaches the server through. */
    final DataSource source() {
        return source;
    }

    final FencingToken token() {
        return lease.token();
    }

    /** Sets out; a holder before this one has claimed already. */
    final void start(ExecutorService threads) throws Exception {
        prepare();
        running = Optional.of(threads.submit(() -> {
            work();
            return null;
        }));
    }

    final void stayAt(S here) throws InterruptedException {
        if (step == here) {
            arrived.countDown();
            if (!goOn.await(LIMIT.toSeconds(), TimeUnit.SECONDS)) {
                throw new AssertionError("Within " + LIMIT.toSeconds() + " s the server did not die");
            }
        }
    }

    final void awaitArrival() throws InterruptedException {
        if (step.keeper() == Keeper.PREPARED_TRANSACTION) {
            database.awaitLockWait(name);
        } else if (fault.isPresent()) {
            fault.get().awaitFired(LIMIT);
        } else if (!arrived.await(LIMIT.toSeconds(), TimeUnit.SECONDS)) {
            throw new AssertionError("Within " + LIMIT.toSeconds() + " s the client did not come to " + step);
        }
    }

    /** What is still on its way to or from the dead server is lost with it. */
    final void loseConnection() {
        proxy.cutAll(Cut.RST);
        fault.ifPresent(Armed::letGo);
        goOn.countDown();
    }

    /** Waits for the end of the work, and writes down what the client was told. */
    final void awaitEnd() throws Exception {
        try {
            running.orElseThrow().get(LIMIT.toSeconds(), TimeUnit.SECONDS);
            movements.believe(operation, Movements.Belief.APPLIED);
        } catch (ExecutionException e) {
            failure = Optional.of(e.getCause());
            if (e.getCause() instanceof BackendUnavailableException) {
                movements.believe(operation, Movements.Belief.NEVER_APPLIED);
            }
        }
    }

    /** What came out of the work instead of a normal return. */
    final Optional<Throwable> failure() {
        return failure;
    }

    /** Settles an unknown outcome, as a client is told to do. */
    final Optional<Resolution> settle() {
        Optional<Resolution> resolution = failure.filter(OutcomeUnknownException.class::isInstance)
                .map(OutcomeUnknownException.class::cast)
                .filter(OutcomeUnknownException::resolvable)
                .map(OutcomeUnknownException::resolve);
        resolution.ifPresent(found -> movements.believe(operation, Movements.Belief.valueOf(found.name())));
        return resolution;
    }

    /** The data says what became of an unknown outcome, settling it says the same each time, and changes nothing. */
    final void assertResolvedAs(Resolution expected) {
        boolean happened = expected == Resolution.APPLIED;
        assertThat(movements.holds(operation)).isEqualTo(happened);
        assertThat(settle()).contains(expected);
        assertThat(settle()).as("for good").contains(expected);
        assertThat(movements.holds(operation)).isEqualTo(happened);
    }

    /** Not close(): JUnit closes the arguments of a test behind it, and several tests look at one client. */
    final void end() {
        goOn.countDown();
        proxy.close();
        lease.close();
    }

    @Override
    public final String toString() {
        return step + ", asks " + back;
    }
}
