package dev.fenceline.verification.torture;

import dev.fenceline.verification.torture.Journal.Grant;
import dev.fenceline.verification.torture.Journal.Refusal;
import dev.fenceline.verification.torture.Journal.Stall;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Function;
import java.util.stream.Collectors;

/**
 * What must hold where no fault is near: nobody is refused, nobody waits for longer than his turn takes, and every process and
 * every lock goes on. A time in which any process did not run is left out, since all may wait for that one.
 */
final class CalmCheck {

    /**
     * What is promised in calm times.
     *
     * @param turns how often others may get a lock while one waits for it; counted, so that it holds on a machine of any speed
     * @param waiting how long a wait may last: waiters times a long hold, but less than a lease, which a lock that is left to
     *     run out takes
     * @param stretch calm times in which all ran for less need not have grants of everybody
     * @param shares each process has at least one of so many grants of a stretch
     */
    record Bounds(int turns, Duration waiting, Duration stretch, int shares) {}

    /** A time without faults, in which all processes ran for so long. */
    record Stretch(long from, long to, long ran) {

        boolean has(Grant grant) {
            return from <= grant.granted() && grant.granted() <= to;
        }
    }

    private final Journal journal;
    private final List<Outage> outages;
    private final JournalCheck.Bounds bounds;
    private final List<Stall> standstills;
    private final List<String> violations = new ArrayList<>();

    private CalmCheck(Journal journal, List<Outage> outages, JournalCheck.Bounds bounds) {
        this.journal = journal;
        this.outages = outages;
        this.bounds = bounds;
        this.standstills = joined(journal.stalls());
    }

    static List<String> violations(Journal journal, List<Outage> outages, JournalCheck.Bounds bounds) {
        CalmCheck check = new CalmCheck(journal, outages, bounds);
        check.refusals();
        check.journal.grants().stream()
                .collect(Collectors.groupingBy(Grant::lock))
                .forEach(check::waits);
        check.stretches().forEach(check::progress);
        return check.violations;
    }

    /** Times in which at least one process did not run, each time once. */
    private static List<Stall> joined(List<Stall> stalls) {
        List<Stall> sorted = new ArrayList<>(stalls);
        sorted.sort(Comparator.comparingLong(Stall::from));
        List<Stall> joined = new ArrayList<>();
        for (Stall stall : sorted) {
            Stall last = joined.isEmpty() ? null : joined.get(joined.size() - 1);
            if (last != null && stall.from() <= last.to()) {
                joined.set(joined.size() - 1, new Stall("any", last.from(), Math.max(last.to(), stall.to())));
            } else {
                joined.add(new Stall("any", stall.from(), stall.to()));
            }
        }
        return joined;
    }

    private long stalled(long from, long to) {
        return standstills.stream().mapToLong(stall -> stall.within(from, to)).sum();
    }

    private boolean calm(long from, long to) {
        return outages.stream().noneMatch(outage -> outage.touches(from, to, bounds.recovery()));
    }

    /** A refusal needs a server that is silent for one command timeout, or a wait that lasts to its limit. */
    private void refusals() {
        for (Refusal refusal : journal.refusals()) {
            long stalled = stalled(refusal.began(), refusal.ended());
            if (calm(refusal.began(), refusal.ended())
                    && stalled < bounds.closing().dividedBy(2).toNanos()) {
                violations.add("a wait of " + refusal.process() + " for '" + refusal.lock() + "' ended with "
                        + refusal.reason() + " after " + JournalCheck.millis(refusal.ended() - refusal.began())
                        + ", though no fault was near and all processes ran but for " + JournalCheck.millis(stalled));
            }
        }
    }

    private void waits(String lock, List<Grant> grants) {
        long[] granted = grants.stream().mapToLong(Grant::granted).sorted().toArray();
        for (Grant grant : grants) {
            if (!calm(grant.began(), grant.granted())) {
                continue;
            }
            int turns = before(granted, grant.granted()) - before(granted, grant.began());
            if (turns > bounds.calm().turns()) {
                violations.add("overtaken on '" + lock + "': others got it " + turns + " times while " + grant
                        + " was waited for; the bound is " + bounds.calm().turns());
            }
            long waited = grant.granted() - grant.began();
            if (waited > bounds.calm().waiting().toNanos()) {
                long ran = waited - stalled(grant.began(), grant.granted());
                if (ran > bounds.calm().waiting().toNanos()) {
                    violations.add("a wait for '" + lock + "' with no fault near took " + JournalCheck.millis(waited)
                            + " until " + grant + " and " + turns + " turns of others, all processes running for "
                            + JournalCheck.millis(ran) + "; the bound is "
                            + JournalCheck.millis(bounds.calm().waiting().toNanos()));
                }
            }
        }
    }

    /** How many are smaller. */
    private static int before(long[] sorted, long time) {
        int low = 0;
        int high = sorted.length;
        while (low < high) {
            int middle = (low + high) >>> 1;
            if (sorted[middle] < time) {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        return low;
    }

    static List<Stretch> stretches(Journal journal, List<Outage> outages, JournalCheck.Bounds bounds) {
        return new CalmCheck(journal, outages, bounds).stretches();
    }

    /** From when all processes have begun to when the last one asks no more, without the faults. */
    private List<Stretch> stretches() {
        Map<String, Long> begins =
                journal.grants().stream().collect(Collectors.toMap(Grant::process, Grant::began, Math::min));
        long from = begins.values().stream().mapToLong(Long::longValue).max().orElse(0);
        long end = journal.grants().stream().mapToLong(Grant::began).max().orElse(0);
        List<Stretch> stretches = new ArrayList<>();
        List<Outage> inOrder = new ArrayList<>(outages);
        inOrder.sort(Comparator.comparingLong(Outage::from));
        for (Outage outage : inOrder) {
            stretches.add(stretch(from, outage.from()));
            from = outage.settled() + bounds.recovery().toNanos();
        }
        stretches.add(stretch(from, end));
        stretches.removeIf(stretch ->
                stretch.to() - stretch.from() < bounds.calm().stretch().toNanos());
        return stretches;
    }

    private Stretch stretch(long from, long to) {
        return new Stretch(from, to, Math.max(0, to - from - stalled(from, to)));
    }

    private void progress(Stretch stretch) {
        if (stretch.ran() < bounds.calm().stretch().toNanos()) {
            return;
        }
        List<Grant> grants = journal.grants().stream().filter(stretch::has).toList();
        String where = " of the " + grants.size() + " grants in a calm stretch of "
                + JournalCheck.millis(stretch.to() - stretch.from());
        for (String process : all(Grant::process)) {
            long own = grants.stream()
                    .filter(grant -> grant.process().equals(process))
                    .count();
            if (own == 0 || own * bounds.calm().shares() < grants.size()) {
                violations.add(process + " got " + own + where + "; a fair share is one of "
                        + bounds.calm().shares() + " at least");
            }
        }
        for (String lock : all(Grant::lock)) {
            if (grants.stream().noneMatch(grant -> grant.lock().equals(lock))) {
                violations.add("'" + lock + "' had none" + where);
            }
        }
    }

    private Set<String> all(Function<Grant, String> part) {
        return journal.grants().stream().map(part).collect(Collectors.toCollection(TreeSet::new));
    }
}
