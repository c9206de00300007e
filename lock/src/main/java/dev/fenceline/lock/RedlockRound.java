package dev.fenceline.lock;

import dev.fenceline.lock.LockTransport.AcquireReply;
import dev.fenceline.lock.NodeReply.Word;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * One token, proposed to all nodes at once. Over as soon as the answers settle it, and at the latest when the nodes' time is over:
 * a node that is silent holds nobody up once a majority has spoken.
 */
final class RedlockRound {

    /** What came of it. */
    sealed interface Outcome {
        /** A majority granted this token. */
        record Won() implements Outcome {}

        /**
         * The lock is free at a majority, and they want another token.
         *
         * @param otherwise what came of it where no token suits a majority of them now, and others are missing that may be there
         *     sooner
         */
        record Free(
                List<Proposal.Figures> figures,
                long mark,
                @Nullable Outcome otherwise) implements Outcome {}

        /** A majority answered, and will not grant it now. */
        record Refused(AcquireReply reply) implements Outcome {}

        /** No majority answered. */
        record Unanswered(SendFailure failure) implements Outcome {}
    }

    private final RedlockAttempt.Field field;
    private final Consumer<Outcome> end;
    private final @Nullable NodeReply[] replies;
    private final @Nullable SendFailure[] failures;
    private final ReentrantLock guard = new ReentrantLock();
    private final long timeUp;
    private Phase phase = Phase.SENDING;

    private enum Phase {
        /** Nothing is decided before everybody was asked: what is released must not be asked for afterwards. */
        SENDING,
        OPEN,
        OVER
    }

    private RedlockRound(RedlockAttempt.Field field, Consumer<Outcome> end) {
        this.field = field;
        this.end = end;
        this.timeUp = field.context().clock().nanoTime() + field.timeoutNanos();
        this.replies = new @Nullable NodeReply[field.nodes().size()];
        this.failures = new @Nullable SendFailure[field.nodes().size()];
    }

    /** How long a lease lasts for its holder, whose clock may run faster than those of the nodes. */
    static long validity(Context context) {
        return RedisLease.Timing.of(context.options(), 0).validity();
    }

    /** Asks all nodes; the end comes on this thread or on another, once. */
    static void run(RedlockAttempt.Field field, Suitors.Asking asking, Consumer<Outcome> end) {
        RedlockRound round = new RedlockRound(field, end);
        for (int i = 0; i < field.nodes().size(); i++) {
            int node = i;
            var unused = asking.ask(node).whenComplete((reply, thrown) -> round.answered(node, reply, thrown));
        }
        round.allAsked();
    }

    private void answered(int node, @Nullable NodeReply reply, @Nullable Throwable thrown) {
        step(() -> {
            replies[node] = reply;
            failures[node] = thrown == null ? null : SendFailure.of(thrown);
        });
    }

    private void allAsked() {
        step(() -> {
            phase = Phase.OPEN;
            if (count(replies) + count(failures) < replies.length) {
                field.limits().add(this);
            }
        });
    }

    /** When nobody is waited for any more, by the monotonic clock. */
    long end() {
        return timeUp;
    }

    void timeUp() {
        step(() -> {
            for (int i = 0; i < replies.length; i++) {
                if (replies[i] == null && failures[i] == null) {
                    failures[i] = new SendFailure(
                            SendFailure.Kind.UNANSWERED,
                            field.nodes().get(i).name() + " did not answer within "
                                    + TimeUnit.NANOSECONDS.toMillis(field.timeoutNanos()) + " ms",
                            null);
                }
            }
        });
    }

    /** Notes something, and ends the round if that decides it. */
    private void step(Runnable note) {
        Outcome outcome;
        guard.lock();
        try {
            if (phase == Phase.OVER) {
                return;
            }
            note.run();
            outcome = phase == Phase.OPEN ? outcome() : null;
            if (outcome == null) {
                return;
            }
            phase = Phase.OVER;
        } finally {
            guard.unlock();
        }
        field.limits().remove(this);
        end.accept(outcome);
    }

    private @Nullable Outcome outcome() {
        int needed = field.size().needed();
        int open = replies.length - count(replies) - count(failures);
        int granted = count(Word.GRANTED);
        if (granted >= needed) {
            return new Outcome.Won();
        }
        if (granted + open >= needed) {
            return null;
        }
        List<NodeReply> free = said(NodeReply::free);
        int ahead = count(Word.AHEAD);
        // One whose clock is far behind takes no token of the others: it must not take the place of one that is still
        // to answer.
        if (free.size() - ahead >= needed || (open == 0 && free.size() >= needed)) {
            return new Outcome.Free(
                    free.stream()
                            .map(node -> new Proposal.Figures(node.time(), node.last()))
                            .toList(),
                    free.stream().mapToLong(NodeReply::mark).max().orElse(0),
                    open == 0 ? missing() : null);
        }
        int held = count(Word.HELD);
        if (held >= field.size().preventing() || (open == 0 && free.size() + held >= needed)) {
            return new Outcome.Refused(new AcquireReply.Busy(mostOftenHolder()));
        }
        return open > 0 ? null : withoutMajority(free.size() + held);
    }

    /** What is to be said where those whose clock is wrong do not count; nothing where all others have answered and are free. */
    private @Nullable Outcome missing() {
        if (count(failures) > 0) {
            return unanswered();
        }
        if (count(Word.HELD) > 0) {
            return new Outcome.Refused(new AcquireReply.Busy(mostOftenHolder()));
        }
        return said(node -> node.word() == Word.REBORN).stream()
                .map(node -> (Outcome) new Outcome.Refused(new AcquireReply.NodesReborn(node.rest())))
                .findFirst()
                .orElse(null);
    }

    private Outcome withoutMajority(int available) {
        if (count(failures) > 0 && available + count(failures) >= field.size().needed()) {
            // Those may be there again in a moment, long before a node has waited for a lease.
            return unanswered();
        }
        List<NodeReply> reborn = said(node -> node.word() == Word.REBORN);
        int missing = field.size().needed() - available;
        if (reborn.size() >= missing) {
            long rest = reborn.stream()
                    .mapToLong(NodeReply::rest)
                    .sorted()
                    .skip(missing - 1L)
                    .findFirst()
                    .orElseThrow();
            return new Outcome.Refused(new AcquireReply.NodesReborn(rest));
        }
        return unanswered();
    }

    private Outcome unanswered() {
        List<SendFailure> why = new ArrayList<>();
        for (int i = 0; i < replies.length; i++) {
            NodeReply reply = replies[i];
            SendFailure failure = failures[i];
            if (failure != null) {
                why.add(failure);
            } else if (reply != null && reply.word() == Word.AHEAD) {
                why.add(unable(i, "refuses a token that is more than S ahead of its clock"));
            } else if (reply != null && reply.word() == Word.REBORN) {
                why.add(unable(
                        i,
                        "restarted or lost its data, and grants nothing for another "
                                + TimeUnit.MICROSECONDS.toMillis(reply.rest()) + " ms"));
            }
        }
        return new Outcome.Unanswered(field.size().failure(replies.length - why.size(), why));
    }

    private SendFailure unable(int node, String why) {
        return new SendFailure(SendFailure.Kind.UNABLE, field.nodes().get(node).name() + " " + why, null);
    }

    /** Where several ask at the same time, each may have some of the nodes. */
    private @Nullable LockValue mostOftenHolder() {
        Map<String, List<LockValue>> byHolder = said(node -> node.value() != null).stream()
                .map(node -> Objects.requireNonNull(node.value()))
                .collect(Collectors.groupingBy(LockValue::holder));
        return byHolder.values().stream()
                .max(Comparator.comparingInt(List::size))
                .map(values -> values.get(0))
                .orElse(null);
    }

    private int count(Word word) {
        return said(node -> node.word() == word).size();
    }

    private List<NodeReply> said(Predicate<NodeReply> what) {
        List<NodeReply> matching = new ArrayList<>(replies.length);
        for (NodeReply reply : replies) {
            if (reply != null && what.test(reply)) {
                matching.add(reply);
            }
        }
        return matching;
    }

    private static <T> int count(@Nullable T[] all) {
        int count = 0;
        for (T one : all) {
            if (one != null) {
                count++;
            }
        }
        return count;
    }
}
