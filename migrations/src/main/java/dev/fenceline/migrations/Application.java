package dev.fenceline.migrations;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/**
 * Applies steps, each in a transaction of its own, in rounds: a table that is not to be had is left in peace while the others get their
 * turn.
 *
 * <p>A request for a lock that waits keeps everybody out who comes after it. So waiting is what has to be limited, and as a whole: a lock
 * on a partitioned table is one on each partition, each with a timeout of its own, while those before are held. The statement that takes
 * them all is limited by statement_timeout, therefore. What comes after it finds the locks held, and waits for nothing.
 */
final class Application {

    // Lost a race, ran out of time, out of slots, or lost its connection. 42701: somebody else has just added the
    // columns. XX000: "tuple
    // concurrently updated", when somebody else changes the same table; the catalogue says at the next attempt what
    // came of it.
    private static final Set<String> AGAIN =
            Set.of("55P03", "57014", "40P01", "40001", "25P03", "25P04", "42701", "XX000");

    private static final String BLOCKERS = Sql.resource("look_at_blockers.sql");
    private static final int NAMED = 20;
    private static final Duration LEAST_IDLE = Duration.ofSeconds(1);

    private final DataSource dataSource;
    private final List<Pending> all;
    private final ApplyOptions options;
    private @Nullable Connection connection;
    private @Nullable SQLException first;

    Application(DataSource dataSource, List<Step> steps, ApplyOptions options) {
        this.dataSource = dataSource;
        this.options = options;
        this.all = new ArrayList<>();
        steps.forEach(step -> all.add(new Pending(step, all.size() + 1)));
    }

    /** A step and what has become of it so far. */
    private static final class Pending {

        private final Step step;
        private final int number;
        private int attempts;
        private boolean given;
        private Applied.@Nullable Outcome outcome;
        private String detail = "";

        Pending(Step step, int number) {
            this.step = step;
            this.number = number;
        }

        boolean isOpen() {
            return outcome == null && !given;
        }

        Applied.AppliedStep result() {
            return new Applied.AppliedStep(
                    step,
                    outcome == null ? Applied.Outcome.NOT_DONE : outcome,
                    attempts,
                    outcome == null ? detail : "");
        }
    }

    Applied run() throws InterruptedException {
        try {
            for (int round = 1; round <= options.attempts() && hasOpen(); round++) {
                if (round > 1) {
                    pause();
                }
                round();
            }
        } finally {
            disconnect();
        }
        Applied applied = new Applied(all.stream().map(Pending::result).toList());
        if (!applied.with(Applied.Outcome.NOT_DONE).isEmpty()) {
            throw new PlanUnfinishedException(message(applied), applied, first);
        }
        return applied;
    }

    private boolean hasOpen() {
        return all.stream().anyMatch(Pending::isOpen);
    }

    private void pause() throws InterruptedException {
        long average = options.backOff().toMillis();
        TimeUnit.MILLISECONDS.sleep(average / 2 + ThreadLocalRandom.current().nextLong(average + 1));
    }

    private void round() throws InterruptedException {
        List<Pending> open = all.stream().filter(Pending::isOpen).toList();
        List<Planner.Judged> judged;
        try {
            judged = Planner.again(
                    new Catalogue(connected()),
                    open.stream().map(pending -> pending.step.change()).toList());
        } catch (SQLException e) {
            failed(open.get(0), e);
            open.forEach(pending -> {
                pending.detail = open.get(0).detail;
                pending.given = open.get(0).given;
            });
            return;
        }
        for (int i = 0; i < open.size(); i++) {
            if (Thread.interrupted()) {
                throw new InterruptedException("Interrupted while applying; what is done stays.");
            }
            Pending pending = open.get(i);
            Optional<Pending> earlier = earlierOfItsTable(pending);
            if (earlier.isEmpty()) {
                attempt(pending, judged.get(i));
                if (connection == null) {
                    // Not a round of them against a server that is gone.
                    return;
                }
            } else {
                pending.detail = "an earlier step of this table is not done";
                pending.given = earlier.get().given;
            }
        }
    }

    /** Two steps of one table keep their order. */
    private Optional<Pending> earlierOfItsTable(Pending pending) {
        return all.stream()
                .filter(other -> other.number < pending.number
                        && other.outcome == null
                        && other.step
                                .change()
                                .table()
                                .equals(pending.step.change().table()))
                .findFirst();
    }

    private void attempt(Pending pending, Planner.Judged judged) {
        if (judged.step().isEmpty()) {
            pending.given = true;
            pending.detail = judged.faults().stream()
                    .map(fault -> fault.problem() + ". " + fault.remedy())
                    .collect(Collectors.joining(" "));
            tell(pending, ApplyProgress.Stage.FAILED);
            return;
        }
        Step now = judged.step().get();
        if (now.state() == Step.State.ALREADY_SO) {
            // After an attempt whose answer was lost, that is our own doing.
            boolean ours = pending.attempts > 0;
            pending.outcome = ours ? Applied.Outcome.CHANGED : Applied.Outcome.ALREADY_SO;
            tell(pending, ours ? ApplyProgress.Stage.CHANGED : ApplyProgress.Stage.ALREADY_SO);
            return;
        }
        pending.attempts++;
        tell(pending, ApplyProgress.Stage.ATTEMPT);
        try {
            carryOut(connected(), now);
            pending.outcome = Applied.Outcome.CHANGED;
        } catch (SQLException e) {
            failed(pending, e);
            return;
        }
        tell(pending, ApplyProgress.Stage.CHANGED);
    }

    private void failed(Pending pending, SQLException e) {
        if (first == null) {
            first = e;
        }
        String state = Sql.state(e);
        boolean lost = state.isEmpty() || state.startsWith("08") || state.startsWith("57P") || state.startsWith("53");
        pending.detail = Sql.firstLine(e);
        if (lost || state.equals("25P03") || state.equals("25P04")) {
            disconnect();
        } else {
            pending.detail += connection == null ? "" : blockers(connection, pending.step);
        }
        if (lost || AGAIN.contains(state)) {
            tell(pending, ApplyProgress.Stage.BLOCKED);
        } else {
            pending.given = true;
            tell(pending, ApplyProgress.Stage.FAILED);
        }
    }

    private void carryOut(Connection session, Step step) throws SQLException {
        try {
            ReadCommitted.begin(session);
            try (PreparedStatement limit = session.prepareStatement(
                    "SELECT pg_catalog.set_config('lock_timeout', w.ms, true), pg_catalog.set_config('statement_timeout', w.ms, true),"
                            + " pg_catalog.set_config('idle_in_transaction_session_timeout', ?, true) FROM (SELECT ?::text) AS w (ms)")) {
                // Idle too: if this process stops between two statements, nobody else does. But that is a limit on us
                // and not on a wait,
                // and a busy machine may need more between two statements than it may wait for a lock.
                limit.setString(1, max(options.lockTimeout(), LEAST_IDLE).toMillis() + "ms");
                limit.setString(2, options.lockTimeout().toMillis() + "ms");
                limit.executeQuery().close();
            }
            try (Statement statement = session.createStatement()) {
                statement.execute(step.statements().get(0));
                statement.execute("SET LOCAL statement_timeout TO DEFAULT");
                statement.execute(Script.of(List.of(), step.statements()));
            }
            session.commit();
        } catch (SQLException e) {
            ReadCommitted.rollBack(session, e);
            throw e;
        }
        session.setAutoCommit(true);
    }

    private static Duration max(Duration one, Duration other) {
        return one.compareTo(other) > 0 ? one : other;
    }

    /** Names who holds the table, which is who was in the way unless he has just gone. */
    private static String blockers(Connection session, Step step) {
        List<String> blockers = new ArrayList<>();
        try (PreparedStatement look = session.prepareStatement(BLOCKERS)) {
            look.setString(1, step.change().table().schema());
            look.setString(2, step.change().table().name());
            look.setBoolean(
                    3,
                    step.lock()
                            .filter(lock -> lock.mode().equals(ColumnSteps.KEEPS_OUT_ALL))
                            .isPresent());
            try (ResultSet row = look.executeQuery()) {
                while (row.next()) {
                    blockers.add(
                            row.getString(1) == null
                                    ? "a prepared transaction"
                                    : "pid " + row.getString(1) + " '" + Identifiers.oneLine(row.getString(2))
                                            + "' of role "
                                            + Identifiers.shown(row.getString(3))
                                            + (row.getString(4) == null
                                                    ? ""
                                                    : ", in a transaction for " + row.getString(4) + " s"));
                }
            }
        } catch (SQLException e) {
            return "";
        }
        return blockers.isEmpty() ? "" : "; the table is held by " + String.join(", ", blockers);
    }

    private Connection connected() throws SQLException {
        if (connection == null) {
            connection = dataSource.getConnection();
            connection.setAutoCommit(true);
        }
        return connection;
    }

    private void disconnect() {
        try {
            if (connection != null) {
                connection.close();
            }
        } catch (SQLException e) {
            // It was broken, and is replaced at the next attempt.
            return;
        } finally {
            connection = null;
        }
    }

    private void tell(Pending pending, ApplyProgress.Stage stage) {
        boolean failed = stage == ApplyProgress.Stage.BLOCKED || stage == ApplyProgress.Stage.FAILED;
        options.progress()
                .accept(new ApplyProgress(
                        pending.step,
                        pending.number,
                        all.size(),
                        pending.attempts,
                        stage,
                        failed ? pending.detail : ""));
    }

    private static String message(Applied applied) {
        List<Applied.AppliedStep> undone = applied.with(Applied.Outcome.NOT_DONE);
        List<Applied.AppliedStep> done =
                applied.steps().stream().filter(step -> !undone.contains(step)).toList();
        return "Applied " + done.size() + " of " + applied.steps().size() + " steps"
                + (done.isEmpty() ? "" : " (" + list(done.stream().map(Application::table), done.size(), ", ") + ")")
                + ", and not:"
                + list(
                        undone.stream()
                                .map(step -> "\n- " + table(step) + " after " + step.attempts() + " attempts: "
                                        + step.detail()),
                        undone.size(),
                        "")
                + "\nWhat is done stays. End or mend what is in the way, and apply the same again.";
    }

    private static String table(Applied.AppliedStep step) {
        return Identifiers.oneLine(step.step().change().table().toString());
    }

    private static String list(Stream<String> names, int count, String separator) {
        String shown = names.limit(NAMED).collect(Collectors.joining(separator));
        return count <= NAMED
                ? shown
                : shown + separator + (separator.isEmpty() ? "\n- " : "") + "and " + (count - NAMED) + " more";
    }
}
