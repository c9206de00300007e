package dev.fenceline.jdbc;

import dev.fenceline.BackendUnavailableException;
import dev.fenceline.FencedLease;
import dev.fenceline.FencelineListener;
import dev.fenceline.FencingToken;
import dev.fenceline.LockName;
import dev.fenceline.Locks;
import dev.fenceline.OutcomeUnknownException;
import dev.fenceline.OutcomeUnknownException.Resolution;
import dev.fenceline.testkit.FaultProxy;
import dev.fenceline.testkit.FaultProxy.Armed;
import dev.fenceline.testkit.FaultProxy.Cut;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;

/** A client with a lock, a claim and one unit of work, which is brought to one step of that and kept there. */
final class CrashClient {

    private static final Duration LIMIT = Duration.ofSeconds(30);

    /** What keeps the client at its step. */
    private enum Keeper {
        LATCH,
        PREPARED_TRANSACTION,
        HELD_REQUEST,
        HELD_REPLY
    }

    /** How far the client gets. */
    enum Step {
        CLAIM_ON_ITS_WAY(Keeper.HELD_REQUEST, "claim_v"),
        CLAIM_WAITS(Keeper.PREPARED_TRANSACTION, ""),
        CLAIM_UNANSWERED(Keeper.HELD_REPLY, "claim_v"),
        CLAIMED(Keeper.LATCH, ""),
        ENTER_WAITS(Keeper.PREPARED_TRANSACTION, ""),
        ENTER_UNANSWERED(Keeper.HELD_REPLY, "enter_v"),
        WRITTEN(Keeper.LATCH, ""),
        LEAVE_UNANSWERED(Keeper.HELD_REPLY, "leave_v"),
        COMMIT_ON_ITS_WAY(Keeper.HELD_REQUEST, "COMMIT"),
        COMMIT_UNANSWERED(Keeper.HELD_REPLY, "COMMIT");

        private final Keeper keeper;
        private final String marker;

        Step(Keeper keeper, String marker) {
            this.keeper = keeper;
            this.marker = marker;
        }

        private Optional<Armed> arm(FaultProxy proxy) {
            return switch (keeper) {
                case HELD_REQUEST -> Optional.of(proxy.onRequest(marker).holdRequest());
                case HELD_REPLY -> Optional.of(proxy.onRequest(marker).holdReply());
                case LATCH, PREPARED_TRANSACTION -> Optional.empty();
            };
        }
    }

    /** When the client turns to the server again after it has lost it. */
    enum Return {
        AT_ONCE,
        WHEN_IT_IS_BACK
    }

    final Step step;
    final Return back;
    final UUID operation = UUID.randomUUID();
    final FencingToken older;
    final FencedLease lease;
    final Movements movements;

    private final TestDatabase database;
    private final FaultProxy proxy;
    private final PostgresFence fence;
    private final Optional<Armed> fault;
    private final CountDownLatch arrived = new CountDownLatch(1);
    private final CountDownLatch goOn = new CountDownLatch(1);
    private final String name;
    private volatile Optional<Claim<Connection>> claim = Optional.empty();
    private Optional<Future<?>> running = Optional.empty();
    private Optional<Throwable> failure = Optional.empty();

    CrashClient(Step step, Return back, TestDatabase database, Locks locks, int account, Outage outage) {
        this.step = step;
        this.back = back;
        this.database = database;
        this.name = "client-" + account;
        this.movements = new Movements(database, account);
        LockName lock = Grants.freshLock();
        older = Grants.next(lock);
        lease = locks.fenced(lock).tryAcquire().orElseThrow();
        proxy = FaultProxy.to(database.server().host(), database.server().port());
        fault = step.arm(proxy);
        var source = database.sourceAt(proxy.host(), proxy.port());
        source.setApplicationName(name);
        fence = PostgresFence.on(new HookedSource(source, number -> {
                    if (back == Return.WHEN_IT_IS_BACK) {
                        outage.awaitEnd();
                    }
                }))
                .listener(FencelineListener.none());
    }

    FencingToken token() {
        return lease.token();
    }

    /** Sets out; a holder before this one has claimed already. */
    void start(ExecutorService threads) {
        PostgresFence.on(database.source()).claim(older);
        if (step == Step.CLAIM_WAITS) {
            blockTheMark();
        }
        running = Optional.of(threads.submit(() -> {
            Claim<Connection> admitted = fence.claim(lease);
            claim = Optional.of(admitted);
            stayAt(Step.CLAIMED);
            if (step == Step.ENTER_WAITS) {
                blockTheMark();
            }
            admitted.useTransaction(c -> {
                movements.move(c, token(), operation, 10);
                stayAt(Step.WRITTEN);
            });
            return null;
        }));
    }

    private void stayAt(Step here) throws InterruptedException {
        if (step == here) {
            arrived.countDown();
            if (!goOn.await(LIMIT.toSeconds(), TimeUnit.SECONDS)) {
                throw new AssertionError("Within " + LIMIT.toSeconds() + " s the server did not die");
            }
        }
    }

    /** By a prepared transaction: no session of it dies with the server, so nobody gets in while the server dies. */
    private void blockTheMark() {
        try (Connection connection = database.source().getConnection();
                Statement statement = connection.createStatement()) {
            connection.setAutoCommit(false);
            statement.execute("SELECT FROM fenceline.guard WHERE lock = '" + token().lock() + "' FOR UPDATE");
            statement.execute("PREPARE TRANSACTION '" + name + "'");
        } catch (SQLException e) {
            throw new IllegalStateException(e);
        }
    }

    void unblock() {
        if (step.keeper == Keeper.PREPARED_TRANSACTION) {
            database.execute("ROLLBACK PREPARED '" + name + "'");
        }
    }

    void awaitArrival() throws InterruptedException {
        if (step.keeper == Keeper.PREPARED_TRANSACTION) {
            database.awaitLockWait(name);
        } else if (fault.isPresent()) {
            fault.get().awaitFired(LIMIT);
        } else if (!arrived.await(LIMIT.toSeconds(), TimeUnit.SECONDS)) {
            throw new AssertionError("Within " + LIMIT.toSeconds() + " s the client did not come to " + step);
        }
    }

    /** What is still on its way to or from the dead server is lost with it. */
    void loseConnection() {
        proxy.cutAll(Cut.RST);
        fault.ifPresent(Armed::letGo);
        goOn.countDown();
    }

    /** Waits for the end of the work, and writes down what the client was told. */
    void awaitEnd() throws Exception {
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
    Optional<Throwable> failure() {
        return failure;
    }

    /** The claim, if it was acknowledged. */
    Optional<Claim<Connection>> claim() {
        return claim;
    }

    /** Settles an unknown outcome, as a client is told to do. */
    Optional<Resolution> settle() {
        Optional<Resolution> resolution = failure.filter(OutcomeUnknownException.class::isInstance)
                .map(OutcomeUnknownException.class::cast)
                .map(OutcomeUnknownException::resolve);
        resolution.ifPresent(found -> movements.believe(operation, Movements.Belief.valueOf(found.name())));
        return resolution;
    }

    /** Not close(): JUnit closes the arguments of a test behind it, and several tests look at one client. */
    void end() {
        goOn.countDown();
        proxy.close();
        lease.close();
    }

    @Override
    public String toString() {
        return step + ", asks " + back;
    }
}
