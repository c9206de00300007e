package dev.fenceline.examples.pausedwriter;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

class SummaryTest {

    private static final List<BookError> WRONG = List.of(new BookError("10", 5_000, 2_000));

    @Test
    void aWriteBasedOnAnotherVersionThanItReplacedIsALostUpdate() {
        List<AcceptedWrite> history = List.of(
                write("A", 0, 0), // v1
                write("B", 1, 1), // v2
                write("A", 1, 2), // v3, computed from v1: B's v2 is gone
                write("B", 3, 3)); // v4
        assertThat(AcceptedWrite.lostUpdates(history)).isEqualTo(1);
        assertThat(AcceptedWrite.lostUpdates(history.subList(0, 2))).isZero();
    }

    @Test
    void balancesAreComparedWithTheFile() {
        Map<String, Long> actual = Map.of("10", 2_000L, "20", 7L);
        List<BookError> errors = BookError.between(new TreeMap<>(Map.of("10", 5_000L, "20", 7L)), actual);
        assertThat(errors).containsExactly(new BookError("10", 5_000, 2_000));
        assertThat(errors.get(0).differenceCents()).isEqualTo(-3_000);
    }

    @Test
    void errorsOfTwoAccountsDoNotCancelOut() {
        RunResult run = run(Mode.NO_CHECK, 0, 1, List.of(new BookError("10", 0, 100), new BookError("20", 0, -100)));
        assertThat(run.errorCents()).isEqualTo(200);
    }

    @Test
    void nothingIsToBeSaidWhenTheControlsLoseAndTheFenceDoesNot() {
        assertThat(summary(
                                run(Mode.NO_CHECK, 0, 2, WRONG),
                                run(Mode.NOT_LOWER, 1, 1, WRONG),
                                run(Mode.FENCED, 2, 0, List.of()))
                        .complaints())
                .isEmpty();
    }

    @Test
    void controlsThatLoseNothingFailTheDemo() {
        assertThat(summary(
                                run(Mode.NO_CHECK, 0, 0, List.of()),
                                run(Mode.NOT_LOWER, 1, 0, List.of()),
                                run(Mode.FENCED, 2, 0, List.of()))
                        .complaints())
                .satisfiesExactly(
                        first -> assertThat(first).startsWith("The control 'no check' lost nothing"),
                        second -> assertThat(second).startsWith("The control '>= only' lost nothing"));
    }

    @Test
    void aFenceThatLosesOrDoesNotRefuseFailsTheDemo() {
        assertThat(summary(
                                run(Mode.NO_CHECK, 0, 2, WRONG),
                                run(Mode.NOT_LOWER, 1, 1, WRONG),
                                run(Mode.FENCED, 1, 1, WRONG))
                        .complaints())
                .containsExactly(
                        "The fenced run has lost updates: 1.",
                        "The fenced run left account 10 at 20.00 € instead of 50.00 €.",
                        "The fenced run refused stale writes of a writer that had been stopped (state T): 1; at least 2 were"
                                + " to be refused.");
    }

    @Test
    void aMovementThatNobodyBookedFailsTheDemo() {
        RunResult fenced = new RunResult(Mode.FENCED, 3_999, 204, 2, 2, 0, List.of());
        assertThat(summary(run(Mode.NO_CHECK, 0, 2, WRONG), run(Mode.NOT_LOWER, 1, 1, WRONG), fenced)
                        .complaints())
                .containsExactly("The run 'Fenceline' booked 3999 of 4000 movements.");
    }

    @Test
    void theTableHasALinePerRun() {
        String table = summary(
                        run(Mode.NO_CHECK, 0, 2, WRONG),
                        run(Mode.NOT_LOWER, 1, 1, WRONG),
                        run(Mode.FENCED, 2, 0, List.of()))
                .table();
        assertThat(table.lines().map(String::strip))
                .containsExactly(
                        "run         bookings  accepted  refused  lost updates balances wrong by",
                        "no check       4,000       204        0             2          30.00 €",
                        ">= only        4,000       204        1             1          30.00 €",
                        "Fenceline      4,000       204        2             0           0.00 €");
    }

    private static Summary summary(RunResult... runs) {
        return new Summary(4_000, List.of(runs));
    }

    private static RunResult run(Mode mode, long refused, long lost, List<BookError> errors) {
        return new RunResult(mode, 4_000, 204, refused, refused, lost, errors);
    }

    private static AcceptedWrite write(String writer, long base, long replaced) {
        return new AcceptedWrite(Instant.EPOCH, "10", Scene.BULK, writer, 7, base, replaced, 100, 100);
    }
}
