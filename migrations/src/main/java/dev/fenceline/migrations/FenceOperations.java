package dev.fenceline.migrations;

import dev.fenceline.FencingToken;
import dev.fenceline.LockName;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.UUID;
import java.util.function.Consumer;
import javax.sql.DataSource;

/**
 * Lets a person see who holds a fence in PostgreSQL and who is in the way, shut a holder out, and bring a restored database back into use.
 *
 * <pre>{@code
 * FenceOperations operations = FenceOperations.on(dataSource);
 * operations.mark(LockName.of("account", 42));      // who claimed last
 * operations.raise(LockName.of("account", 42));     // and shall write no more
 * operations.afterRestore(progress -> {});          // before anybody works on a restored database
 * }</pre>
 *
 * <p>The role needs {@link FenceMigrations#grantOperationsTo}, and {@link #afterRestore} UPDATE on tables of row mode.
 *
 * <p><b>Thread-safety:</b> immutable.
 */
public final class FenceOperations {

    private static final Duration PATIENCE = Duration.ofSeconds(10);

    private static final String MARK =
            "SELECT token, holder, claimed_at, claimed_by, is_raised FROM fenceline.describe_mark_v1(?)";
    // The times are asked for with the rights of the caller, who may be a member of pg_read_all_stats. Whose token is
    // newest does not
    // matter here, so any may be given.
    private static final String BLOCKERS =
            "SELECT b.pid, b.application_name, a.state, a.xact_start, a.state_change, a.query_start"
                    + " FROM fenceline.blockers_v1(ARRAY[?], ARRAY[1::bigint]) b"
                    + " LEFT JOIN pg_catalog.pg_stat_activity a ON a.pid = b.pid ORDER BY a.xact_start, b.pid";
    private static final String VIOLATIONS =
            "SELECT relation, operation, application_name, role, count(*), min(at), max(at),"
                    + " (array_agg(needed ORDER BY at DESC))[1], (array_agg(entered ORDER BY at DESC))[1]"
                    + " FROM fenceline.violation WHERE at >= pg_catalog.clock_timestamp() - ? * interval '1 millisecond'"
                    + " GROUP BY relation, operation, application_name, role"
                    + " ORDER BY max(at) DESC, relation, operation, application_name, role";

    private final DataSource dataSource;
    private final Duration patience;
    private final Wording wording;

    private FenceOperations(DataSource dataSource, Duration patience, Wording wording) {
        this.dataSource = dataSource;
        this.patience = patience;
        this.wording = wording;
    }

    /**
     * Chooses the database.
     *
     * @param dataSource connects to the primary
     * @return operations on it, which wait 10 s for a mark that is in use; nothing is sent yet
     */
    public static FenceOperations on(DataSource dataSource) {
        return new FenceOperations(Objects.requireNonNull(dataSource, "dataSource"), PATIENCE, Wording.JAVA);
    }

    /**
     * Says how long to wait for a mark that is in use.
     *
     * @param limit at least a millisecond, at most a day
     * @return a copy
     * @throws IllegalArgumentException when it is shorter or longer
     */
    public FenceOperations waitAtMost(Duration limit) {
        if (limit.toMillis() < 1 || limit.compareTo(Duration.ofDays(1)) > 0) {
            throw new IllegalArgumentException("A wait of " + limit + " is not between a millisecond and a day.");
        }
        return new FenceOperations(dataSource, limit, wording);
    }

    /**
     * Says in whose words messages tell what to do.
     *
     * @param other that of whoever reads them; {@link Wording#JAVA} where nothing is said
     * @return a copy
     */
    public FenceOperations worded(Wording other) {
        return new FenceOperations(dataSource, patience, Objects.requireNonNull(other, "other"));
    }

    /**
     * Reads the mark of a lock.
     *
     * @param lock the lock
     * @return the mark; empty when the lock was never claimed in this database
     * @throws dev.fenceline.BackendMisconfiguredException when the schema or a right is missing, or the server is a standby
     * @throws dev.fenceline.BackendUnavailableException when the database cannot be reached
     */
    public Optional<Mark> mark(LockName lock) {
        return Questions.ask(
                dataSource, wording, "Reading the mark of lock '" + lock + "'", connection -> mark(connection, lock));
    }

    /**
     * Names the sessions that keep a claim of a lock waiting. One that does not end can be ended with {@code pg_terminate_backend};
     * its transaction is then certainly rolled back.
     *
     * <p><b>Not guaranteed:</b> state and times of another role's session: PostgreSQL shows them to members of {@code pg_read_all_stats} alone,
     * and {@link Blocker} is without them for everybody else, and says so.
     *
     * @param lock the lock
     * @return the session that works under the mark, or those that share it or stand in front of it; empty when nobody is in the way
     * @throws dev.fenceline.BackendMisconfiguredException when the schema or a right is missing
     * @throws dev.fenceline.BackendUnavailableException when the database cannot be reached
     */
    public List<Blocker> blockers(LockName lock) {
        return Questions.ask(
                dataSource,
                wording,
                "Looking for who blocks lock '" + lock + "'",
                connection -> blockers(connection, lock.toString()));
    }

    /**
     * Shuts out every holder that a lock has had so far. The mark goes above what the lock server has issued by its clock, and to a holder that is
     * nobody. For a holder that cannot be stopped otherwise, and after its lock was released by force.
     *
     * <p><b>Guarantees:</b> when this returns, nothing more commits under an earlier claim of this lock in this database. Whoever is refused
     * acquires anew; the first claim after this is refused too while the lock server's clock is below the mark, for about ten
     * seconds, and the lock then goes above it by itself. Recorded in {@code fenceline.raising}.
     *
     * <p><b>Not guaranteed:</b> anything for rows that carry their own mark (row mode), nor for other storages.
     *
     * <p><b>Blocking:</b> waits for a transaction that works under the mark, 10 s unless {@link #waitAtMost} says otherwise; new claims of the
     * lock wait behind. {@link #blockers} names beforehand whom it will wait for.
     *
     * @param lock the lock; it may never have been claimed here
     * @return the new mark, or one that was claimed since
     * @throws dev.fenceline.RetryableConflictException when a transaction under the mark did not end in that time; it names the session, and
     *     nothing happened: end that session, or wait longer
     * @throws dev.fenceline.BackendMisconfiguredException when the schema or a right is missing, the server is a standby, or
     *     synchronous_commit is off; nothing happened
     * @throws dev.fenceline.BackendUnavailableException when the database cannot be reached; nothing happened
     * @throws dev.fenceline.OutcomeUnknownException when the connection was lost; raise it again
     */
    public Mark raise(LockName lock) {
        String step = "Raising the mark of lock '" + lock + "'";
        try (Connection connection = dataSource.getConnection()) {
            connection.setAutoCommit(true);
            UUID holder = Raising.begin(connection, lock.toString());
            Optional<Raising.Obstacle> obstacle = Raising.raise(connection, lock, holder, patience);
            if (obstacle.isPresent()) {
                throw obstacle.get().refusal(step);
            }
            return mark(connection, lock).orElseThrow();
        } catch (SQLException e) {
            throw Questions.failureOfWrite(wording, step, e);
        }
    }

    /**
     * Makes a database that was restored, or promoted after a loss, safe to work on: every mark in it is of an earlier time, and whoever
     * held it then would be let in again. Raises the marks of all locks, then those of all rows in tables with mark columns. Stop writers before, or
     * begin here before they reach the database.
     *
     * <p><b>Guarantees:</b> when the result {@link Restoration#isComplete() is complete}, no claim from before admits anybody. Each batch is a
     * READ COMMITTED transaction of its own, whatever the database's default, so one that was killed has kept what it did; run it again.
     * Each run raises every mark, also what an earlier one has raised.
     *
     * <p><b>Not guaranteed:</b> that the data is consistent with other storages, or with what clients have been told. Who claims while this runs may
     * be refused once, and acquires anew.
     *
     * <p><b>Blocking:</b> reads each table with mark columns twice, the second time to find rows whose key was changed meanwhile, and marks that
     * cannot be raised. Waits for marks that are in use, and names who uses them for longer.
     * Triggers of yours on these tables fire; a protected one is bypassed, which is recorded.
     *
     * @param progress is told after each batch, on this thread; what it throws comes out and ends the run
     * @return what was raised, and what is left
     * @throws dev.fenceline.BackendMisconfiguredException when a right is missing: nothing happened, and the message names the table and the
     *     grant; when a policy hides rows of a table: what was raised before it stays; or as {@link #raise}
     * @throws dev.fenceline.BackendUnavailableException when the database cannot be reached
     * @throws dev.fenceline.OutcomeUnknownException when the connection was lost in between; run it again
     */
    public Restoration afterRestore(Consumer<? super RestoreProgress> progress) {
        Objects.requireNonNull(progress, "progress");
        try (Connection connection = dataSource.getConnection()) {
            connection.setAutoCommit(true);
            return new AfterRestore(connection, wording, patience, progress).run();
        } catch (SQLException e) {
            throw Questions.failureOfWrite(wording, "Raising all marks", e);
        }
    }

    /**
     * Tells who wrote observed tables without their lock: while anybody does, enforcing would refuse him. Records are kept for 30 days.
     *
     * @param since how far to look back, by the clock of the database
     * @return one entry for each table, operation, application and role, the most recent first
     * @throws IllegalArgumentException when {@code since} is not positive
     * @throws dev.fenceline.BackendMisconfiguredException when the schema or a right is missing
     * @throws dev.fenceline.BackendUnavailableException when the database cannot be reached
     */
    public List<Violations> violations(Duration since) {
        if (since.isNegative() || since.isZero()) {
            throw new IllegalArgumentException(
                    "Violations of the last " + since + " cannot be asked for: name a time.");
        }
        return Questions.ask(
                dataSource, wording, "Reading the violations", connection -> violations(connection, since));
    }

    static List<Blocker> blockers(Connection connection, String lock) throws SQLException {
        List<Blocker> blockers = new ArrayList<>();
        try (PreparedStatement statement = connection.prepareStatement(BLOCKERS)) {
            statement.setString(1, lock);
            try (ResultSet row = statement.executeQuery()) {
                while (row.next()) {
                    blockers.add(new Blocker(
                            row.getInt(1),
                            row.getString(2),
                            Optional.ofNullable(row.getString(3)),
                            Questions.instantIfAny(row, 4),
                            Questions.instantIfAny(row, 5),
                            Questions.instantIfAny(row, 6)));
                }
            }
        }
        return List.copyOf(blockers);
    }

    private static Optional<Mark> mark(Connection connection, LockName lock) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(MARK)) {
            statement.setString(1, lock.toString());
            try (ResultSet row = statement.executeQuery()) {
                if (!row.next()) {
                    return Optional.empty();
                }
                FencingToken token = new FencingToken(lock, row.getLong(1), row.getObject(2, UUID.class));
                return Optional.of(new Mark(token, Questions.instant(row, 3), row.getString(4), row.getBoolean(5)));
            }
        }
    }

    private static List<Violations> violations(Connection connection, Duration since) throws SQLException {
        List<Violations> found = new ArrayList<>();
        try (PreparedStatement statement = connection.prepareStatement(VIOLATIONS)) {
            statement.setLong(1, since.toMillis());
            try (ResultSet row = statement.executeQuery()) {
                while (row.next()) {
                    found.add(new Violations(
                            row.getString(1),
                            row.getString(2),
                            row.getString(3),
                            row.getString(4),
                            row.getLong(5),
                            Questions.instant(row, 6),
                            Questions.instant(row, 7),
                            row.getString(8),
                            row.getString(9)));
                }
            }
        }
        return List.copyOf(found);
    }
}
