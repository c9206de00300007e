package dev.fenceline.jdbc;

import dev.fenceline.jdbc.MatrixCell.Form;
import dev.fenceline.jdbc.MatrixCell.Interleaving;
import dev.fenceline.jdbc.MatrixCell.Operation;
import dev.fenceline.jdbc.MatrixSession.Applied;
import dev.fenceline.jdbc.MatrixSession.End;
import dev.fenceline.jdbc.MatrixSession.Steps;
import dev.fenceline.jdbc.MatrixStage.Attempt;
import dev.fenceline.jdbc.MatrixStage.Link;
import dev.fenceline.jdbc.MatrixStage.Side;
import dev.fenceline.jdbc.MatrixTokens.Age;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Callable;

/**
 * Plays the interleaving of one cell with two sessions, and compares the rows with the serial execution of everything that was
 * reported as applied, in the order of the commits. It knows neither fence nor right answer, so that a naive form is judged by the
 * same eyes.
 */
final class MatrixPlay {

    /** Makes the sessions of the form that is played. */
    interface Sessions {
        MatrixSession open(Side side, Link link, Age age);
    }

    static final String SUBJECT = "s";
    static final String RIVAL = "r";

    private final MatrixStage stage;
    private final MatrixCell cell;
    private final MatrixRows rows;
    private final Sessions sessions;
    private final List<Applied> accepted = new ArrayList<>();
    private final Link subjectLink;
    private final Link rivalLink;
    private final MatrixSession subject;
    private final Callable<Applied> steps;
    private Optional<Exception> refusal = Optional.empty();

    MatrixPlay(MatrixStage stage, MatrixCell cell, MatrixRows rows, Sessions sessions) {
        this.stage = stage;
        this.cell = cell;
        this.rows = rows;
        this.sessions = sessions;
        this.subjectLink = stage.link(Side.SUBJECT, cell.isolation());
        this.rivalLink = stage.link(Side.RIVAL, cell.rivals());
        boolean subjectIsNewer = cell.interleaving() == Interleaving.NEWER_BEHIND_CURRENT;
        this.subject = sessions.open(Side.SUBJECT, subjectLink, subjectIsNewer ? Age.NEWER : Age.OLDER);
        this.steps = claimsInTheRace(cell) ? this::claimAndPerform : this::perform;
    }

    /**
     * Without the row, where two sessions are to insert the same one, and where row mode is to look for the mark in the guard, which it
     * does while there is no row; with it everywhere else.
     */
    static MatrixState start(MatrixCell cell) {
        boolean absent = switch (cell.interleaving()) {
            case STALE_BEHIND_COMMIT, STALE_BEHIND_ROLLBACK -> inserts(cell);
            case FIRST_GUARD_ROW -> inserts(cell) || (cell.form() == Form.ROW && cell.operation() != Operation.DELETE);
            // What two transactions of a claim read first may be an absence, which has no row to lock.
            case TWO_TRANSACTIONS -> cell.form() == Form.ROW && cell.operation() == Operation.UPSERT;
            case NEWER_BEHIND_CURRENT, STALE_AFTER_DELETE -> false;
        };
        return absent ? MatrixState.otherRowOnly() : MatrixState.bothRows();
    }

    /** The rival does the same, or what makes the operation possible, or what the operation would destroy. */
    static Operation rivalOperation(MatrixCell cell) {
        if (cell.interleaving() == Interleaving.STALE_AFTER_DELETE) {
            return Operation.DELETE;
        }
        if (cell.interleaving() == Interleaving.FIRST_GUARD_ROW && cell.form() == Form.ROW) {
            return Operation.UPSERT;
        }
        if (inserts(cell) && start(cell).equals(MatrixState.bothRows())) {
            return Operation.DELETE;
        }
        return switch (cell.operation()) {
            case DELETE, TRUNCATE, CLAIM_READ -> Operation.UPDATE;
            default -> cell.operation();
        };
    }

    /** Whether the claim of the session under test is part of what races, or was made before. */
    private static boolean claimsInTheRace(MatrixCell cell) {
        return switch (cell.interleaving()) {
            case NEWER_BEHIND_CURRENT -> true;
            // In row mode the first to write the guard's row can be a DELETE, under a claim that is in the row alone.
            case FIRST_GUARD_ROW -> !(cell.form() == Form.ROW && cell.operation() == Operation.DELETE);
            case STALE_BEHIND_COMMIT, STALE_BEHIND_ROLLBACK, STALE_AFTER_DELETE, TWO_TRANSACTIONS -> false;
        };
    }

    private static boolean inserts(MatrixCell cell) {
        return cell.operation() == Operation.INSERT || cell.operation() == Operation.COPY;
    }

    /** Plays it once; empty when the operation of the session under test was reported as applied. */
    Optional<Exception> play() throws Exception {
        Operation rivalDoes = rivalOperation(cell);
        // The second transaction of a claim is under way in another process, which has the token and has not claimed.
        if (!claimsInTheRace(cell) && cell.interleaving() != Interleaving.TWO_TRANSACTIONS) {
            subject.claim();
        }
        switch (cell.interleaving()) {
            case STALE_BEHIND_COMMIT, FIRST_GUARD_ROW -> behindAClaim(rivalDoes, End.COMMIT);
            case STALE_BEHIND_ROLLBACK -> behindAClaim(rivalDoes, End.ROLLBACK);
            case NEWER_BEHIND_CURRENT, TWO_TRANSACTIONS -> behindAnOperation(rivalDoes);
            case STALE_AFTER_DELETE -> {
                MatrixSession rival = sessions.open(Side.RIVAL, rivalLink, Age.NEWER);
                rival.claim();
                accepted.add(rival.perform(rivalDoes, RIVAL));
                take(stage.start(subjectLink, steps));
            }
        }
        return refusal;
    }

    /** Tries again after a lost race, with nobody in the way. */
    Optional<Exception> playAgain() {
        try {
            accepted.add(steps.call());
            return Optional.empty();
        } catch (Exception e) {
            return Optional.of(e);
        }
    }

    private Applied perform() throws Exception {
        return subject.perform(cell.operation(), SUBJECT);
    }

    private Applied claimAndPerform() throws Exception {
        subject.claim();
        return perform();
    }

    private void behindAClaim(Operation rivalDoes, End end) throws Exception {
        List<Attempt<Applied>> started = new ArrayList<>();
        sessions.open(Side.RIVAL, rivalLink, Age.NEWER)
                .claimAndHold(rivalDoes, RIVAL, end, () -> started.add(startAndAwait()));
        if (end == End.COMMIT) {
            accepted.add(new Applied(rivalDoes, RIVAL, Optional.empty()));
        }
        take(started.get(0));
    }

    private void behindAnOperation(Operation rivalDoes) throws Exception {
        List<Attempt<Applied>> started = new ArrayList<>();
        MatrixSession rival = sessions.open(Side.RIVAL, rivalLink, Age.OLDER);
        rival.claim();
        rival.performAndHold(rivalDoes, RIVAL, () -> started.add(startAndAwait()))
                .ifPresent(accepted::add);
        take(started.get(0));
    }

    private Attempt<Applied> startAndAwait() throws SQLException {
        Attempt<Applied> attempt = stage.start(subjectLink, steps);
        attempt.awaitBlockedBy(rivalLink);
        return attempt;
    }

    private void take(Attempt<Applied> attempt) {
        try {
            accepted.add(attempt.result());
        } catch (Exception e) {
            refusal = Optional.of(e);
        }
    }

    /** The rows after everything that was reported as applied, one after the other. */
    MatrixState expected() {
        MatrixState state = start(cell);
        for (Applied applied : accepted) {
            state = state.after(applied.operation(), applied.writer());
        }
        return state;
    }

    /** The rows that are there. */
    MatrixState actual() throws SQLException {
        return rows.read(stage.observer());
    }

    /** What was read and does not equal what was committed before it; empty if each was based on the state that it replaced. */
    List<String> wrongReads() {
        List<String> wrong = new ArrayList<>();
        MatrixState state = start(cell);
        for (Applied applied : accepted) {
            MatrixState before = state;
            applied.saw()
                    .filter(saw -> !saw.equals(before))
                    .ifPresent(saw -> wrong.add(applied.writer() + " saw " + saw + " instead of " + before));
            state = state.after(applied.operation(), applied.writer());
        }
        return wrong;
    }

    /** The ways in which a session goes on that does not accept a refusal. */
    Map<String, Steps> insist() throws Exception {
        return subject.insist(cell.operation(), SUBJECT);
    }
}
