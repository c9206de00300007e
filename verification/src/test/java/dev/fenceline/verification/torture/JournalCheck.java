package dev.fenceline.verification.torture;

import dev.fenceline.verification.torture.Journal.Grant;
import dev.fenceline.verification.torture.Journal.Refusal;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;
import java.util.stream.Collectors;

/** Reads a journal in one pass and says what must not be in it. Nothing said means that every rule was kept. */
final class JournalCheck {

    /** Refusals that a waiter may meet while servers fail; any other exception is a fault of ours. */
    private static final Set<String> HONEST = Set.of("LockNotAcquiredException", "BackendUnavailableException");

    /**
     * What the run promises.
     *
     * @param waiting how long a wait may last: its limit and one command timeout
     * @param closing how long giving back may last: one command timeout
     * @param slack for the scheduler of a busy machine, beyond the stalls of the whole process that were seen
     * @param recovery how soon after a fault locks are granted again
     * @param lease how long after a fault one that lost its lock may still believe that it holds it
     * @param calm what is promised besides where no fault is near
     */
    record Bounds(
            Duration waiting,
            Duration closing,
            Duration slack,
            Duration recovery,
            Duration lease,
            CalmCheck.Bounds calm) {}

    private final Journal journal;
    private final List<Outage> outages;
    private final Bounds bounds;
    private final List<String> violations = new ArrayList<>();

    private JournalCheck(Journal journal, List<Outage> outages, Bounds bounds) {
        this.journal = journal;
        this.outages = outages;
        this.bounds = bounds;
    }

    static List<String> violations(Journal journal, List<Outage> outages, Bounds bounds) {
        JournalCheck check = new JournalCheck(journal, outages, bounds);
        Map<String, List<Grant>> byLock = journal.grants().stream().collect(Collectors.groupingBy(Grant::lock));
        byLock.forEach(check::tokens);
        byLock.forEach(check::overlaps);
        check.waits();
        outages.forEach(outage -> check.recovery(outage, byLock.keySet()));
        check.violations.addAll(CalmCheck.violations(journal, outages, bounds));
        return check.violations;
    }

    /**
     * No token twice, and a grant that was in hand before another was asked for has the smaller one. A grant that was asked for
     * while two servers took writes is held to neither: there numbers may repeat, and only holders tell grants apart.
     */
    private void tokens(String lock, List<Grant> grants) {
        Map<Long, Grant> seen = new HashMap<>();
        for (Grant grant : grants) {
            Grant other = seen.put(grant.value(), grant);
            if (other != null && ((one(other) && one(grant)) || other.holder().equals(grant.holder()))) {
                violations.add("repeated on '" + lock + "': " + other + " and " + grant);
            }
        }
        List<Grant> byBegin = new ArrayList<>(grants);
        byBegin.sort(Comparator.comparingLong(Grant::began));
        List<Grant> byGranted = new ArrayList<>(grants);
        byGranted.sort(Comparator.comparingLong(Grant::granted));
        Grant newest = null;
        int completed = 0;
        for (Grant grant : byBegin) {
            for (; completed < byGranted.size() && byGranted.get(completed).granted() < grant.began(); completed++) {
                Grant before = byGranted.get(completed);
                newest = newest == null || newest.value() < before.value() ? before : newest;
            }
            if (newest != null && newest.value() >= grant.value() && one(grant)) {
                violations.add("out of order on '" + lock + "': " + newest + " was in hand "
                        + millis(grant.began() - newest.granted()) + " before " + grant + " was asked for");
            }
        }
    }

    private boolean one(Grant grant) {
        return outages.stream().noneMatch(outage -> outage.splits(grant.began()));
    }

    /**
     * Nobody is granted what another has in hand and has not begun to give back. This needs no tolerance: a server cannot grant
     * before it was asked to release. A holder that did not run for so long that it could not renew has no lease to defend.
     */
    private void overlaps(String lock, List<Grant> grants) {
        List<Grant> byGranted = new ArrayList<>(grants);
        byGranted.sort(Comparator.comparingLong(Grant::granted));
        Grant longest = null;
        for (Grant grant : byGranted) {
            if (longest != null && grant.granted() < longest.released()) {
                overlap(lock, longest, grant);
            }
            if (longest == null || longest.released() < grant.released()) {
                longest = grant;
            }
        }
    }

    private void overlap(String lock, Grant first, Grant second) {
        long end = Math.min(first.released(), second.released());
        boolean excused = outages.stream().anyMatch(outage -> outage.unsettles(second.granted(), end, bounds.lease()));
        long stalled = journal.stalled(first.process(), first.began(), second.granted());
        if (!excused && stalled < bounds.lease().dividedBy(2).toNanos()) {
            violations.add("held twice on '" + lock + "': " + second + " was in hand "
                    + millis(first.released() - second.granted()) + " before " + first + " began to give back");
        }
    }

    private void waits() {
        for (Grant grant : journal.grants()) {
            within("a wait that was granted", grant.process(), grant.began(), grant.granted(), bounds.waiting());
            within("giving back", grant.process(), grant.released(), grant.closed(), bounds.closing());
        }
        for (Refusal refusal : journal.refusals()) {
            within(
                    "a wait that ended with " + refusal.reason(),
                    refusal.process(),
                    refusal.began(),
                    refusal.ended(),
                    bounds.waiting());
            if (!HONEST.contains(refusal.reason())) {
                violations.add("a wait of " + refusal.process() + " for '" + refusal.lock() + "' ended with "
                        + refusal.reason());
            }
        }
    }

    private void within(String what, String process, long from, long to, Duration bound) {
        if (to - from <= bound.toNanos() + bounds.slack().toNanos()) {
            return;
        }
        long stalled = journal.stalled(process, from, to);
        if (to - from - stalled > bound.toNanos() + bounds.slack().toNanos()) {
            violations.add(what + " took " + process + " " + millis(to - from) + ", of which it did not run for "
                    + millis(stalled) + "; the bound is " + millis(bound.toNanos()));
        }
    }

    /** Once a fault is over, each lock is granted and each process gets some lock; meanwhile the spared ones go on. */
    private void recovery(Outage outage, Set<String> locks) {
        Set<String> processes = new TreeSet<>();
        journal.grants().forEach(grant -> processes.add(grant.process()));
        String after = "within " + millis(bounds.recovery().toNanos()) + " after ";
        for (String lock : new TreeSet<>(locks)) {
            grantedBy(
                    outage.to(),
                    grant -> grant.lock().equals(lock),
                    "'" + lock + "' was not granted " + after + "the end of " + outage.name());
        }
        for (String process : processes) {
            grantedBy(
                    outage.to(),
                    grant -> grant.process().equals(process),
                    process + " got no lock " + after + "the end of " + outage.name());
        }
        if (!outage.spared().isEmpty()) {
            for (String lock : new TreeSet<>(locks)) {
                grantedBy(
                        outage.from(),
                        grant -> grant.lock().equals(lock) && outage.spared().contains(grant.process()),
                        "'" + lock + "' was granted to none of " + new TreeSet<>(outage.spared()) + " " + after
                                + "the begin of " + outage.name());
            }
        }
    }

    private void grantedBy(long since, Predicate<Grant> wanted, String otherwise) {
        long limit = since + bounds.recovery().toNanos();
        if (journal.grants().stream()
                .filter(wanted)
                .noneMatch(grant -> grant.granted() >= since && grant.granted() <= limit)) {
            violations.add(otherwise);
        }
    }

    static String millis(long nanos) {
        return TimeUnit.NANOSECONDS.toMillis(nanos) + " ms";
    }
}
