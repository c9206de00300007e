package dev.fenceline.jdbc;

import dev.fenceline.BackendUnavailableException;
import dev.fenceline.FencelineEvent.UnsafeSetting;
import dev.fenceline.FencelineException;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.time.OffsetDateTime;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/**
 * What all statements on one table have in common: where connections come from, how statements are sent, and what is known of the
 * table.
 *
 * @param <C> the connection of the library that the user has chosen
 */
final class RowEngine<C> {

    private static final long TIME_IS_GOOD_FOR_NANOS = Duration.ofHours(1).toNanos();

    /** A time of the server, and when this process asked for it. */
    private record ServerTime(OffsetDateTime at, long askedNanos) {}

    /** What one asks once; copies with other settings share it. */
    private static final class Known {
        final TableShapes shapes;
        final AtomicBoolean settingsTold = new AtomicBoolean();
        final AtomicReference<@Nullable ServerTime> time = new AtomicReference<>();

        Known(TableShapes shapes) {
            this.shapes = shapes;
        }
    }

    private final ConnectionSource<C> source;
    private final RowRunner<C> runner;
    private final FencedTable<?> table;
    private final FenceSettings settings;
    private final boolean recorded;
    private final Known known;

    private RowEngine(
            ConnectionSource<C> source,
            RowRunner<C> runner,
            FencedTable<?> table,
            FenceSettings settings,
            boolean recorded,
            Known known) {
        this.source = source;
        this.runner = runner;
        this.table = table;
        this.settings = settings;
        this.recorded = recorded;
        this.known = known;
    }

    static <C> RowEngine<C> of(ConnectionSource<C> source, RowRunner<C> runner, FencedTable<?> table) {
        return new RowEngine<>(
                source, runner, table, FenceSettings.defaults(), false, new Known(new TableShapes(table)));
    }

    RowEngine<C> with(FenceSettings other) {
        return new RowEngine<>(source, runner, table, other, recorded, known);
    }

    RowEngine<C> recording() {
        return new RowEngine<>(source, runner, table, settings, true, known);
    }

    /** Tells whether another engine is for the same table in the same place, whatever else is set. */
    boolean isLike(RowEngine<C> other) {
        return known == other.known;
    }

    ConnectionSource<C> source() {
        return source;
    }

    RowRunner<C> runner() {
        return runner;
    }

    FencedTable<?> table() {
        return table;
    }

    FenceSettings settings() {
        return settings;
    }

    /** How long a statement that raises a mark waits for it. */
    Duration claimTimeout(RowSession session) {
        return settings.claimTimeout().orElseGet(session::patience);
    }

    Session<C> open(String step, RowTarget target) {
        try {
            return source.open(new TransactionGuard(target.resource()));
        } catch (SQLException e) {
            throw Refusals.notOpened(step, target.resource(), e);
        }
    }

    /** Makes a session ready for single statements, none of which waits for longer than this. */
    RowSql prepare(Session<C> session, Duration wait) throws SQLException {
        session.limitNetwork(wait.plus(FenceSettings.NETWORK_ALLOWANCE));
        session.connection().setAutoCommit(true);
        TableShape shape = known.shapes.of(session.connection());
        if (shape.fsync().equals("off") && known.settingsTold.compareAndSet(false, true)) {
            tellUnsafe(session.connection());
        }
        return new RowSql(table, shape, runner.placeholder(), Optional.of(millis(wait)));
    }

    /** For statements in a transaction of the user's. */
    RowSql within(Connection connection) throws SQLException {
        return new RowSql(table, known.shapes.of(connection), runner.placeholder(), Optional.empty());
    }

    /** For what is asked beside the statements that the user's library sends. */
    RowSql plain(Connection connection) throws SQLException {
        return new RowSql(table, known.shapes.of(connection), RowStatement.Placeholder.MARK, Optional.empty());
    }

    /** For the guard's mark alone, which no library needs to bind. */
    RowSql plain(Connection connection, Duration wait) throws SQLException {
        return new RowSql(table, known.shapes.of(connection), RowStatement.Placeholder.MARK, Optional.of(millis(wait)));
    }

    boolean isKeyIndex(Connection connection, String index) throws SQLException {
        return known.shapes.of(connection).keyIndexes().contains(index);
    }

    /** The table, the schema or the server may have changed since it was looked at: if that explains the failure, says so. */
    void explain(RowRights rights, String step, RowTarget target, SQLException said, Connection connection) {
        if (TableShapes.isDoubtful(said)) {
            try {
                known.shapes.check(connection);
                requireRights(rights, said, connection);
            } catch (SQLException unanswered) {
                said.addSuppressed(unanswered);
            }
        }
        if (SqlFailure.isReadOnly(said)) {
            throw Refusals.refused(step, target.resource(), said, connection);
        }
    }

    /** A right that the table's owner has not given. In a failed transaction nothing is asked: what is known of the table decides. */
    void requireRights(RowRights rights, SQLException said, Connection connection) throws SQLException {
        if (SqlFailure.isNoRight(said)) {
            Optional<String> missing = rights.missing(table, known.shapes.of(connection));
            if (missing.isPresent()) {
                throw TableMisfit.of(table, missing.get(), said);
            }
        }
    }

    /**
     * Begins a record, with a time of the server's clock that is not later than the write: a resolver must not take a young record
     * for one that was pruned. It is asked for once an hour; the server refuses one that is days old.
     */
    Optional<RowOperation> operation(Connection connection) throws SQLException {
        if (!recorded) {
            return Optional.empty();
        }
        ServerTime time = known.time.get();
        if (time == null || System.nanoTime() - time.askedNanos() > TIME_IS_GOOD_FOR_NANOS) {
            long asked = System.nanoTime();
            try (PreparedStatement ask = connection.prepareStatement("SELECT pg_catalog.clock_timestamp()");
                    ResultSet row = ask.executeQuery()) {
                row.next();
                time = new ServerTime(row.getObject(1, OffsetDateTime.class), asked);
            }
            known.time.set(time);
        }
        return Optional.of(new RowOperation(UUID.randomUUID(), time.at()));
    }

    void forgetTime() {
        known.time.set(null);
    }

    /** What went wrong before or after the statement itself; it did nothing. */
    FencelineException aside(String step, RowTarget target, SQLException e, Connection connection) {
        if (SqlFailure.isConnectionLost(e, connection)) {
            return lost(step, target, e);
        }
        if (SqlFailure.isRetryable(e)) {
            return RowRefusals.conflict(step, target, SqlFailure.text(e), e);
        }
        if (SqlFailure.isNoRight(e)) {
            return TableMisfit.of(table, SqlFailure.text(e) + ". Grant the role what it lacks", e);
        }
        return Refusals.refused(step, target.resource(), e, connection);
    }

    static BackendUnavailableException lost(String step, RowTarget target, Throwable cause) {
        return Refusals.lost(
                step + " under token " + target.token(),
                target.resource(),
                "Nothing of it happened; try again under the same claim.",
                cause);
    }

    private void tellUnsafe(Connection connection) throws SQLException {
        String url = connection.getMetaData().getURL();
        int parameters = url.indexOf('?');
        settings.listener()
                .tell(new UnsafeSetting(
                        "PostgreSQL at " + (parameters < 0 ? url : url.substring(0, parameters)),
                        "fsync = off",
                        "a crash of its machine can lose marks and corrupt data; for throw-away databases only"));
    }

    private static int millis(Duration duration) {
        // Zero would mean no limit.
        return (int) Math.max(1, Math.min(Integer.MAX_VALUE, duration.toMillis()));
    }
}
