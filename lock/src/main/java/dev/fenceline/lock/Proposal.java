package dev.fenceline.lock;

import java.util.Arrays;
import java.util.List;

/**
 * Which token a client proposes to the nodes of Redlock.
 *
 * <p>The clock is the median of the nodes' clocks: a single one that is wrong, also our own, decides nothing. The counter to pass is
 * the one that a majority can pass, and <em>not the highest</em>: a node whose clock is an hour ahead has counters an hour ahead, and
 * all others would refuse what follows from them.
 */
final class Proposal {

    /** What was heard of one node for this lock. */
    record Figures(long time, long last) {

        private boolean takes(long token, long tolerance, long floor) {
            return last < token && (token <= time + tolerance || token - 1 <= floor);
        }
    }

    /** What to do next. */
    sealed interface Next {
        /** A majority of nodes would grant this one. */
        record Token(long value) implements Next {}

        /** None that would be granted now; one will be after so many microseconds. */
        record Wait(long micros, long counter, long serverTime) implements Next {}
    }

    private Proposal() {}

    /** The middle one; of an even number the lower of the two in the middle, since being behind costs a round and being ahead is refused. */
    static long median(long... clocks) {
        long[] sorted = clocks.clone();
        Arrays.sort(sorted);
        return sorted[(sorted.length - 1) / 2];
    }

    /**
     * The first proposal, from what is remembered.
     *
     * @param counters of the bucket at each node, 0 where nothing is known
     */
    static long first(long median, long[] counters, int majority, long floor) {
        long[] sorted = counters.clone();
        Arrays.sort(sorted);
        return Math.max(median, Math.max(sorted[majority - 1], floor) + 1);
    }

    /**
     * The next proposal, from what the nodes have just said.
     *
     * @param free of the nodes where the lock is free; a majority at least
     * @param floor a mark that the token has to pass, and may pass wherever the clocks are
     */
    static Next next(List<Figures> free, int majority, long median, long tolerance, long floor) {
        long[] lasts = free.stream().mapToLong(Figures::last).sorted().toArray();
        Next.Wait shortest = null;
        for (int i = majority - 1; i < lasts.length; i++) {
            long token = Math.max(median, Math.max(lasts[i], floor) + 1);
            Next.Wait wait = waitFor(token, free, majority, tolerance, floor);
            if (wait.micros() <= 0) {
                return new Next.Token(token);
            }
            shortest = shortest == null || wait.micros() < shortest.micros() ? wait : shortest;
        }
        if (shortest == null) {
            throw new IllegalArgumentException("The lock is free at " + free.size() + " nodes, not at " + majority);
        }
        return shortest;
    }

    /** How long until a majority takes a token, all clocks going on. */
    private static Next.Wait waitFor(long token, List<Figures> free, int majority, long tolerance, long floor) {
        Figures slowest = free.stream()
                .filter(node -> node.last() < token)
                .sorted((one, other) -> Long.compare(other.time(), one.time()))
                .skip(majority - 1L)
                .findFirst()
                .orElseThrow();
        long micros = slowest.takes(token, tolerance, floor) ? 0 : token - slowest.time() - tolerance;
        return new Next.Wait(micros, token - 1, slowest.time());
    }
}
