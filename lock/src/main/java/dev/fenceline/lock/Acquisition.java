package dev.fenceline.lock;

import dev.fenceline.FencelineException;
import dev.fenceline.HolderProcess;
import dev.fenceline.LockName;
import dev.fenceline.lock.LockTransport.AcquireReply;
import dev.fenceline.lock.LockTransport.AcquireRequest;
import java.time.Duration;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * One attempt to get a lock, from the first request to a lease or to its cancellation. Never blocks: it goes on in the
 * callbacks of the transport and of the scheduler, one step at a time.
 *
 * <p><b>The answer that does not come.</b> The request may have been executed, or may be executed later, and then the
 * lock is held by nobody. So one holder stands for the whole acquisition: asking again under it gives the same grant, and
 * whoever stops waiting sends a release under it, which also takes it out of the queue. A request that is still on its way is
 * caught twice: when its answer comes after all, and by one more release after a command timeout, since an old connection's
 * packet can arrive behind the first release. A lease that came only after an unanswered request inherits that doubt, and
 * releases twice when it ends.
 *
 * <p><b>Waiting.</b> First behind others of this process, without a word to the server. The one in front asks, and so enters the
 * server's queue; from then on it asks again when it hears that it is its turn (a hint, which may be late, lost or doubled),
 * when the time to live of the lock it saw is over, and once a lease as a sign of life. One request is on its way at a time;
 * a hint that comes meanwhile has it repeated. Whoever leaves the front hands its place in the server's queue, or the lock
 * itself if it has just been offered, to the next one behind it.
 */
final class Acquisition {

    private static final long FIRST_RETRY_MILLIS = 5;
    private static final long LONGEST_RETRY_MILLIS = 50;

    private static final long LOOK_AGAIN_NANOS = TimeUnit.MILLISECONDS.toNanos(10);

    /** Redis removes a key up to this late. */
    private static final long EXPIRY_SLACK_MILLIS = 2;

    /** How an acquisition ended. */
    sealed interface Outcome {
        /** A lease, which is held from now on. */
        record Granted(RedisLease lease) implements Outcome {}

        /** Somebody else held it all the time. */
        record Busy(@Nullable HolderProcess holder) implements Outcome {}

        /** The lock service could not be used, or must not be; the exception is made on the thread that throws it. */
        record Failed(Supplier<FencelineException> why) implements Outcome {}

        /** The caller stopped waiting. */
        record Abandoned() implements Outcome {}
    }

    /** Whether it waits in a queue, or is content with what the first answer says. */
    enum Patience {
        QUEUES,
        TRIES_ONCE
    }

    /** What is known of the requests. */
    private enum Sent {
        NOTHING,
        ONE,
        /** One is on its way, and when it is answered another is due: something was heard meanwhile. */
        ONE_TO_REPEAT
    }

    private final ConnectedLocks locks;
    private final LockKey lock;
    private final AcquireErrors errors;
    private final UUID holder;
    private final Patience patience;
    private final long limit;
    private final CompletableFuture<Outcome> result = new CompletableFuture<>();
    private final AtomicReference<Sent> sent = new AtomicReference<>(Sent.NOTHING);
    private final PollTimer poll;

    private long retryMillis = FIRST_RETRY_MILLIS;
    private volatile boolean asked;
    private volatile boolean unanswered;

    /** The server has answered, and may have us in its queue. */
    private volatile boolean queued;

    private volatile boolean takenBack;

    /** The last answer was that nothing is granted for a time, and not that somebody holds the lock. */
    private volatile boolean toldToWait;

    private volatile @Nullable Outcome soFar;

    Acquisition(ConnectedLocks locks, LockKey lock, Duration maxWait) {
        this.locks = locks;
        this.lock = lock;
        this.errors = new AcquireErrors(locks, lock);
        this.holder = locks.newHolder();
        this.patience = maxWait.isZero() ? Patience.TRIES_ONCE : Patience.QUEUES;
        this.limit = locks.clock().nanoTime() + maxWait.toNanos();
        this.poll = new PollTimer(locks, this::attempt);
    }

    /** Ends with an outcome, never with an exception. */
    CompletableFuture<Outcome> result() {
        return result;
    }

    LockName name() {
        return lock.name();
    }

    UUID holder() {
        return holder;
    }

    Patience patience() {
        return patience;
    }

    /** Waits for the end, at most until the server has had one command timeout more than the limit. */
    Outcome await() throws InterruptedException {
        try {
            if (patience == Patience.QUEUES) {
                try {
                    return result.get(nanosToLimit(), TimeUnit.NANOSECONDS);
                } catch (TimeoutException e) {
                    endAtLimit();
                }
            }
            return result.get(nanosToHardStop(), TimeUnit.NANOSECONDS);
        } catch (TimeoutException e) {
            endForSilence(e);
            // Done by now; with a grant, if that came first.
            return result.join();
        } catch (ExecutionException e) {
            throw new IllegalStateException("An acquisition ends with an outcome, never with an exception.", e);
        }
    }

    /** Ends the wait because the server says nothing; with a grant, if that came first. */
    void endForSilence(TimeoutException e) {
        fail(() -> errors.unavailable(errors.silence(), requests(), e));
    }

    /** Nanoseconds until the caller wants an answer. */
    long nanosToLimit() {
        return limit - locks.clock().nanoTime();
    }

    /** Nanoseconds until the caller stops waiting, whatever the server does. */
    long nanosToHardStop() {
        return nanosToLimit() + locks.options().commandTimeout().toNanos();
    }

    /** Begins to ask the server, as the first in line of this process. */
    void contend(@Nullable Succession succession) {
        if (locks.isClosed()) {
            fail(() -> locks.closedException(lock.name()));
        }
        asked = true;
        if (!ask(succession) && succession != null) {
            succession.releaseInstead();
        }
    }

    /** Asks the server, or sees to it that it is asked again. Comes from hints and timers, when it comes too often it is harmless. */
    void attempt() {
        boolean unused = ask(null);
    }

    /** As {@link #attempt}, for whoever is in front and has asked before. */
    void attemptAgain() {
        if (asked) {
            attempt();
        }
    }

    /** Has the server asked again after a time, if that is earlier than it would be. */
    void attemptWithin(long millis) {
        if (!result.isDone()) {
            long longest = locks.options().lease().toMillis();
            boolean unused = locks.later(this::attemptAgain, Math.min(millis, longest) + EXPIRY_SLACK_MILLIS);
        }
    }

    private boolean ask(@Nullable Succession succession) {
        // Marked first: whoever ends the wait meanwhile sees either this mark, or is seen here.
        Sent before = sent.getAndUpdate(now -> now == Sent.NOTHING ? Sent.ONE : Sent.ONE_TO_REPEAT);
        if (before != Sent.NOTHING) {
            return false;
        }
        if (result.isDone()) {
            sent.set(Sent.NOTHING);
            return false;
        }
        send(succession);
        return true;
    }

    private void send(@Nullable Succession succession) {
        long floor = lock.kind() == LockKind.FENCED ? locks.floors().floor(lock.name()) : 0;
        // The lease is counted from before the request: the server started it at some time after this.
        RedisLease.Proof proof = RedisLease.Proof.now(locks.clock());
        var request = new AcquireRequest(holder, floor, patience, succession == null ? null : succession.predecessor());
        var unused = locks.transport().acquire(lock, request).whenComplete((reply, thrown) -> {
            // In this order: whoever cancels sees the request as sent or as unanswered.
            queued |= thrown == null && patience == Patience.QUEUES;
            unanswered |= thrown != null && SendFailure.of(thrown).kind() == SendFailure.Kind.UNANSWERED;
            toldToWait = false;
            boolean repeat = sent.getAndSet(Sent.NOTHING) == Sent.ONE_TO_REPEAT;
            if (thrown == null) {
                if (succession != null) {
                    succession.done();
                }
                answered(reply, proof, succession, repeat);
            } else {
                if (succession != null) {
                    succession.releaseInstead();
                }
                failed(SendFailure.of(thrown));
            }
        });
    }

    /** Ends the wait without a lease and takes back what may have been granted. Too late if there is a lease already. */
    void abandon() {
        endWith(new Outcome.Abandoned());
    }

    /** As {@link #abandon}, and tells the waiting thread why. */
    void fail(Supplier<FencelineException> why) {
        endWith(new Outcome.Failed(why));
    }

    /**
     * Ends the wait at its limit with what is known: who holds the lock, or why the server cannot be asked. Where that is still to
     * be learnt it looks again in a moment, until {@link #nanosToHardStop()}: whoever is in front may just be asking.
     */
    void endAtLimit() {
        if (asked) {
            // What the server told us to wait for may be over a little after the limit, and an answer ends the wait
            // itself.
            boolean answerToCome = sent.get() != Sent.NOTHING || toldToWait;
            endKnowing(answerToCome ? null : soFar);
            return;
        }
        Acquisition inFront = locks.queues().contender(lock);
        endKnowing(inFront == null ? new Outcome.Busy(locks.holderHere(lock)) : inFront.soFar);
    }

    private void endKnowing(@Nullable Outcome known) {
        if (known != null) {
            endWith(known);
        } else if (!result.isDone() && nanosToHardStop() > LOOK_AGAIN_NANOS) {
            boolean unused = locks.laterNanos(this::endAtLimit, LOOK_AGAIN_NANOS);
        }
    }

    private void endWith(Outcome outcome) {
        if (complete(outcome)) {
            cancel();
        }
    }

    private boolean complete(Outcome outcome) {
        if (!result.complete(outcome)) {
            return false;
        }
        locks.finished(this);
        poll.stop();
        return true;
    }

    private void answered(AcquireReply reply, RedisLease.Proof proof, @Nullable Succession succession, boolean repeat) {
        if (reply instanceof AcquireReply.Granted granted) {
            granted(granted, proof, succession);
        } else if (reply instanceof AcquireReply.Held held) {
            held(held, repeat);
        } else if (reply instanceof AcquireReply.Busy busy) {
            busy(busy);
        } else if (reply instanceof AcquireReply.Wait wait) {
            waitFor(wait.micros(), () -> errors.counterAhead(wait));
        } else if (reply instanceof AcquireReply.Reborn reborn) {
            waitFor(reborn.micros(), () -> errors.reborn(reborn));
        } else if (reply instanceof AcquireReply.NodesReborn reborn) {
            waitFor(reborn.micros(), () -> errors.reborn(reborn));
        } else if (reply instanceof AcquireReply.FloorTooFar refused) {
            // Not sent again: whoever repairs the mark need not restart this process.
            locks.floors().settle(lock.name(), refused.mark());
            fail(() -> errors.floorTooFar(refused));
        } else if (reply instanceof AcquireReply.Exhausted exhausted) {
            fail(() -> errors.exhausted(exhausted));
        }
    }

    private void granted(AcquireReply.Granted granted, RedisLease.Proof proof, @Nullable Succession succession) {
        locks.floors().settle(lock.name(), granted.token() - 1);
        Transfers transfers = succession == null ? Transfers.none(locks.clock()) : succession.transfers();
        RedisLease lease = RedisLease.granted(locks, lock, grant(granted.token(), transfers), proof);
        // In front before anybody sees it: whoever closes it looks there for who is next.
        if (patience == Patience.QUEUES) {
            boolean unused = locks.queues().granted(lock, this, lease);
        } else {
            locks.queues().hold(lock, lease);
        }
        // Not before: a lease that is over when it comes is noticed there, and would be put in front after its end.
        locks.keeper().add(lease);
        if (complete(new Outcome.Granted(lease))) {
            return;
        }
        // The answer came after the wait had ended.
        lease.discard();
        var unused = lease.passOn();
    }

    private RedisLease.Grant grant(long token, Transfers transfers) {
        return new RedisLease.Grant(
                holder,
                token,
                unanswered ? RedisLease.Requests.ONE_UNANSWERED : RedisLease.Requests.ALL_ANSWERED,
                transfers);
    }

    private void busy(AcquireReply.Busy reply) {
        Outcome busy = busy(reply.by());
        soFar = busy;
        if (nanosToLimit() <= 0) {
            endWith(busy);
        } else {
            attemptAfter(TimeUnit.MILLISECONDS.toNanos(nextRetryMillis()));
        }
    }

    private static Outcome busy(@Nullable LockValue by) {
        return new Outcome.Busy(by == null ? null : by.process());
    }

    private void held(AcquireReply.Held held, boolean repeat) {
        Outcome busy = busy(held.by());
        soFar = busy;
        if (nanosToLimit() <= 0) {
            endWith(busy);
            return;
        }
        if (repeat) {
            attempt();
            return;
        }
        // The sign of life, if nothing else. A lock without an end was not written by us.
        attemptAfter(
                held.ttlMillis() < 0
                        ? Long.MAX_VALUE
                        : TimeUnit.MILLISECONDS.toNanos(held.ttlMillis() + EXPIRY_SLACK_MILLIS));
    }

    private void waitFor(long micros, Supplier<FencelineException> tooLong) {
        long nanos = TimeUnit.MICROSECONDS.toNanos(micros) + TimeUnit.MILLISECONDS.toNanos(1);
        // A server that just started lets everybody wait for K, also those who would try only once.
        long grace = locks.options().commandTimeout().toNanos() * 3 / 4;
        if (nanos <= Math.max(nanosToLimit(), 0) + grace) {
            toldToWait = true;
            soFar = new Outcome.Failed(tooLong);
            attemptAfter(nanos);
        } else {
            fail(tooLong);
        }
    }

    private void failed(SendFailure failure) {
        if (failure.kind() == SendFailure.Kind.FORBIDDEN) {
            fail(() -> errors.forbidden(failure));
            return;
        }
        Outcome unavailable =
                new Outcome.Failed(() -> errors.unavailable(String.valueOf(failure.getMessage()), requests(), failure));
        soFar = unavailable;
        long left = nanosToLimit();
        if (left <= 0) {
            endWith(unavailable);
        } else {
            attemptAfter(Math.min(TimeUnit.MILLISECONDS.toNanos(nextRetryMillis()), left));
        }
    }

    /** Leaves the queues, here and at the server; whoever is next here takes over what we had there. */
    private void cancel() {
        Acquisition next = patience == Patience.QUEUES ? locks.queues().leave(lock, this) : null;
        boolean doubtful = sent.get() != Sent.NOTHING || unanswered;
        takenBack = doubtful;
        if (!doubtful && !queued) {
            if (next != null) {
                locks.soon(() -> next.contend(null));
            }
            return;
        }
        if (doubtful) {
            Release.sendLater(locks, lock, holder);
        }
        if (next == null || locks.isClosed()) {
            var unused = Release.send(locks, lock, holder);
        } else {
            // Not on this stack: when the server is away and many reach their limit at once, each would call the next.
            locks.soon(() -> next.contend(Succession.ofPlace(locks, lock, holder)));
        }
    }

    private void attemptAfter(long nanos) {
        if (!poll.askAfter(nanos)) {
            fail(() -> locks.closedException(lock.name()));
        }
    }

    private long nextRetryMillis() {
        long base = retryMillis;
        retryMillis = Math.min(LONGEST_RETRY_MILLIS, retryMillis + retryMillis / 2);
        // Between half and the whole, so that those who wait for one server do not ask in step.
        return base - locks.random(base / 2 + 1);
    }

    private AcquireErrors.Requests requests() {
        return takenBack || unanswered ? AcquireErrors.Requests.ONE_TAKEN_BACK : AcquireErrors.Requests.ALL_ANSWERED;
    }
}
