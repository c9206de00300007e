package dev.fenceline.bench;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;

/**
 * What happened between the holds of one lock. A hand-over runs from the beginning of a release to the return of the next
 * acquire; only where the next holder is another thread, which waited already. A lock that lets the same thread in again is
 * fast by not handing over, so those are counted apart.
 */
final class HandOvers {

    private final List<Hold> holds;
    private final List<Long> nanos;
    private final int toThemselves;

    private HandOvers(List<Hold> holds, List<Long> nanos, int toThemselves) {
        this.holds = holds;
        this.nanos = nanos;
        this.toThemselves = toThemselves;
    }

    /**
     * Lays the holds of all threads on one time line.
     *
     * @throws IllegalStateException when two held at once: then it was no lock, and its speed says nothing
     */
    static HandOvers of(List<Hold> unordered) {
        List<Hold> holds = new ArrayList<>(unordered);
        holds.sort(Comparator.comparingLong(Hold::acquired));
        List<Long> nanos = new ArrayList<>();
        int toThemselves = 0;
        for (int i = 1; i < holds.size(); i++) {
            Hold before = holds.get(i - 1);
            Hold next = holds.get(i);
            if (next.acquired() - before.releasing() < 0) {
                throw new IllegalStateException("Two threads held one lock: " + before + " and " + next + ".");
            }
            if (next.thread() == before.thread()) {
                toThemselves++;
            } else if (next.asked() - before.releasing() < 0) {
                nanos.add(next.acquired() - before.releasing());
            }
        }
        return new HandOvers(holds, nanos, toThemselves);
    }

    int count() {
        return holds.size();
    }

    /** How long each hand-over took. */
    long[] nanos() {
        if (nanos.isEmpty()) {
            throw new IllegalStateException(
                    "None of " + holds.size() + " holds was handed over to a thread that waited.");
        }
        return nanos.stream().mapToLong(Long::longValue).toArray();
    }

    double median() {
        return Quartiles.quantile(nanos(), 0.5);
    }

    /** The share of holds that went to the thread that had just released. */
    double shareToThemselves() {
        return holds.size() < 2 ? 0 : (double) toThemselves / (holds.size() - 1);
    }

    long longestWait() {
        return holds.stream().mapToLong(Hold::waited).max().orElse(0);
    }

    /** How long a hold really was: a parked thread wakes a little late. */
    double meanHold() {
        return holds.stream()
                .mapToLong(hold -> hold.releasing() - hold.acquired())
                .average()
                .orElse(0);
    }

    /** From the first hold to the last. */
    double perSecond() {
        long first = holds.get(0).acquired();
        long last = holds.get(holds.size() - 1).acquired();
        return (holds.size() - 1) * 1e9 / (last - first);
    }

    /** The longest wait as a part of {@code 2 × waiters × (hold + hand-over)}. */
    double shareOfBound(int threads) {
        return longestWait() / (2.0 * (threads - 1) * (meanHold() + median()));
    }
}
