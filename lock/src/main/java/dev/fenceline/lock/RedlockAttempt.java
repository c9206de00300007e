package dev.fenceline.lock;

import dev.fenceline.FencingToken;
import dev.fenceline.lock.LockTransport.AcquireReply;
import java.util.List;
import java.util.OptionalLong;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/**
 * One attempt to get a lock from a majority of the nodes of Redlock. Never blocks.
 *
 * <p><b>A round</b> proposes one token to all nodes at once, and is won when a majority has granted that very token. A node that grants
 * a token has found it above all that it granted before, and two majorities share a node: so no two rounds are won with one token, and
 * one that begins after another was won has the higher one. Nothing in this depends on a clock. It would not hold if nodes drew the
 * numbers themselves, or if an answer to an earlier round were counted with the answers to this one.
 *
 * <p><b>Refused for its number</b>, and not because somebody has it, the lock is asked for again at once, under the same holder, with a
 * token that follows from what the nodes have just said. Those that granted the last one raise it.
 *
 * <p><b>An attempt that ends without the lock</b> releases each node that granted it or may have: also one whose answer comes later.
 */
final class RedlockAttempt {

    /** Each further one means that a majority granted tokens of the same bucket to others meanwhile. */
    private static final int MOST_ROUNDS = 8;

    private static final AtomicLong NUMBERS = new AtomicLong();

    /** For whom, and what is special about it. */
    record Request(UUID holder, long floor, @Nullable UUID predecessor) {}

    /** The nodes, and how long each of them has for an answer. */
    record Field(
            List<RedlockNode> nodes,
            Majority.Size size,
            long timeoutNanos,
            RoundLimits limits,
            Proposed proposed,
            Context context) {}

    private final Field field;
    private final LockKey lock;
    private final Request request;
    private final long began;
    private final Suitors suitors;
    private final CompletableFuture<AcquireReply> result = new CompletableFuture<>();

    private final AtomicInteger rounds = new AtomicInteger();

    private RedlockAttempt(Field field, LockKey lock, Request request) {
        this.field = field;
        this.lock = lock;
        this.request = request;
        this.began = field.context().clock().nanoTime();
        this.suitors = new Suitors(field, lock, request);
    }

    /** Ends with a reply, or with a {@link SendFailure} where no majority said anything. */
    static CompletableFuture<AcquireReply> of(Field field, LockKey lock, Request request) {
        RedlockAttempt attempt = new RedlockAttempt(field, lock, request);
        attempt.begin();
        return attempt.result;
    }

    private void begin() {
        if (lock.kind() == LockKind.EFFICIENCY) {
            // There is no order to keep: the number tells this attempt from the next one of its holder.
            run(NUMBERS.incrementAndGet(), request.floor());
            return;
        }
        int bucket = bucket();
        long[] counters =
                field.nodes().stream().mapToLong(node -> node.counter(bucket)).toArray();
        long median = median();
        long floor = field.proposed().floor(lock.name(), request.floor(), median);
        propose(Proposal.first(median, counters, field.size().needed(), floor), median, floor);
    }

    private int bucket() {
        return field.context().keys().bucketOf(lock);
    }

    /** What the nodes' clocks show now. A node that is away is counted as it was: its clock goes on. */
    private long median() {
        long now = field.context().clock().nanoTime();
        long[] clocks = field.nodes().stream()
                .map(node -> node.clock(now))
                .filter(OptionalLong::isPresent)
                .mapToLong(OptionalLong::getAsLong)
                .toArray();
        // Nobody has ever answered, and nobody will be asked without a connection.
        return clocks.length == 0 ? 1 : Proposal.median(clocks);
    }

    private void propose(long wanted, long median, long floor) {
        if (floor - median > Proposed.FARTHEST_MICROS) {
            end(new AcquireReply.FloorTooFar(floor, median));
            return;
        }
        long token = field.proposed().next(lock.name(), bucket(), wanted, floor, median);
        if (token >= FencingToken.VALUE_LIMIT) {
            end(new AcquireReply.Exhausted(token - 1, median));
        } else {
            run(token, floor);
        }
    }

    private void run(long token, long floor) {
        int unused = rounds.incrementAndGet();
        RedlockRound.run(field, suitors.asking(token, floor), outcome -> ended(token, floor, outcome));
    }

    private void ended(long token, long floor, RedlockRound.Outcome outcome) {
        if (outcome instanceof RedlockRound.Outcome.Won) {
            won(token);
        } else if (outcome instanceof RedlockRound.Outcome.Free free) {
            again(free, floor);
        } else if (outcome instanceof RedlockRound.Outcome.Refused refused) {
            end(refused.reply());
        } else if (outcome instanceof RedlockRound.Outcome.Unanswered unanswered) {
            end(unanswered.failure());
        }
    }

    private void won(long token) {
        long elapsed = elapsed();
        if (elapsed >= RedlockRound.validity(field.context())) {
            end(new SendFailure(
                    SendFailure.Kind.UNABLE,
                    "a majority granted it only after " + TimeUnit.NANOSECONDS.toMillis(elapsed)
                            + " ms, and the lease would be over",
                    null));
            return;
        }
        AcquireReply granted = new AcquireReply.Granted(lock.kind() == LockKind.FENCED ? token : 0);
        result.complete(granted);
    }

    private void again(RedlockRound.Outcome.Free free, long floor) {
        long passed = Math.max(floor, free.mark());
        long median = median();
        Proposal.Next next = Proposal.next(
                free.figures(),
                field.size().needed(),
                median,
                TimeUnit.NANOSECONDS.toMicros(
                        field.context().options().clockStepTolerance().toNanos()),
                passed);
        if (next instanceof Proposal.Next.Wait wait) {
            waitOr(wait, free.otherwise());
        } else if (next instanceof Proposal.Next.Token token) {
            boolean inTime = elapsed() + field.timeoutNanos()
                    < field.context().commandTimeout().toNanos();
            if (rounds.get() < MOST_ROUNDS && inTime) {
                propose(token.value(), median, passed);
            } else {
                // Others of the bucket are always quicker; they are given a moment.
                end(new AcquireReply.Busy(null));
            }
        }
    }

    /** A token that a majority takes in a while; others may be there sooner, and do without it. */
    private void waitOr(Proposal.Next.Wait wait, RedlockRound.@Nullable Outcome otherwise) {
        if (otherwise instanceof RedlockRound.Outcome.Unanswered missing && wait.micros() > briefly()) {
            end(new SendFailure(
                    missing.failure().kind(),
                    missing.failure().getMessage() + "; those that answered agree on no token for another "
                            + TimeUnit.MICROSECONDS.toMillis(wait.micros()) + " ms",
                    missing.failure()));
        } else if (otherwise instanceof RedlockRound.Outcome.Refused refused && isSooner(refused.reply(), wait)) {
            end(refused.reply());
        } else {
            end(new AcquireReply.Wait(wait.micros(), wait.counter(), wait.serverTime()));
        }
    }

    private boolean isSooner(AcquireReply refused, Proposal.Next.Wait wait) {
        return refused instanceof AcquireReply.NodesReborn reborn
                ? reborn.micros() < wait.micros()
                : wait.micros() > briefly();
    }

    /** As long as a node that was just reborn needs, with clocks that are not quite the same: then it takes part by itself. */
    private long briefly() {
        return TimeUnit.NANOSECONDS.toMicros(field.timeoutNanos()
                + 2 * field.context().options().masterClockSkew().toNanos());
    }

    private long elapsed() {
        return field.context().clock().nanoTime() - began;
    }

    private void end(AcquireReply reply) {
        suitors.releaseAll();
        result.complete(reply);
    }

    private void end(SendFailure failure) {
        suitors.releaseAll();
        result.completeExceptionally(failure);
    }
}
