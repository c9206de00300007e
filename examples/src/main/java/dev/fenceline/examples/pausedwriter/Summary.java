package dev.fenceline.examples.pausedwriter;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/**
 * The closing table, and whether the demo showed what it says.
 *
 * @param movements how many movements the file has
 * @param runs in the order in which they ran
 */
record Summary(int movements, List<RunResult> runs) {

    private static final String ROW = "   %-10s %9s %9s %8s %13s %16s%n";
    private static final int REFUSALS_WANTED = 2;

    Summary {
        runs = List.copyOf(runs);
    }

    RunResult of(Mode mode) {
        return runs.stream()
                .filter(run -> run.mode() == mode)
                .findFirst()
                .orElseThrow(() -> new IllegalStateException("The run '" + mode.title() + "' is missing."));
    }

    String table() {
        StringBuilder table = new StringBuilder(String.format(
                Locale.ROOT, ROW, "run", "bookings", "accepted", "refused", "lost updates", "balances wrong by"));
        for (RunResult run : runs) {
            table.append(String.format(
                    Locale.ROOT,
                    ROW,
                    run.mode().title(),
                    String.format(Locale.ROOT, "%,d", run.bookings()),
                    run.accepted(),
                    run.refused(),
                    run.lostUpdates(),
                    Money.euros(run.errorCents())));
        }
        return table.toString();
    }

    /** What speaks against the fence, or against the demo itself: controls that lose nothing prove nothing. */
    List<String> complaints() {
        List<String> complaints = new ArrayList<>();
        for (Mode control : List.of(Mode.NO_CHECK, Mode.NOT_LOWER)) {
            RunResult run = of(control);
            if (run.lostUpdates() == 0 || run.errorCents() == 0) {
                complaints.add("The control '" + control.title() + "' lost nothing (" + run.lostUpdates()
                        + " lost updates, balances wrong by " + Money.euros(run.errorCents())
                        + "), so the staging did not work and the fenced run proves nothing.");
            }
        }
        RunResult fenced = of(Mode.FENCED);
        if (fenced.lostUpdates() != 0) {
            complaints.add("The fenced run has lost updates: " + fenced.lostUpdates() + ".");
        }
        for (BookError error : fenced.errors()) {
            complaints.add("The fenced run left account " + error.account() + " at " + Money.euros(error.actualCents())
                    + " instead of " + Money.euros(error.expectedCents()) + ".");
        }
        if (fenced.refusedWhileStopped() < REFUSALS_WANTED) {
            complaints.add("The fenced run refused stale writes of a writer that had been stopped (state T): "
                    + fenced.refusedWhileStopped() + "; at least " + REFUSALS_WANTED + " were to be refused.");
        }
        for (RunResult run : runs) {
            if (run.bookings() != movements) {
                complaints.add("The run '" + run.mode().title() + "' booked " + run.bookings() + " of " + movements
                        + " movements.");
            }
        }
        return complaints;
    }
}
