package dev.fenceline.jdbc;

import dev.fenceline.FencedLease;
import dev.fenceline.FencelineListener;
import dev.fenceline.FencingToken;
import dev.fenceline.LockName;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/**
 * The fence in the rows of one table, for plain JDBC: one row, one lock, and one statement that both checks and writes. Make one per
 * table and data source, and keep it.
 *
 * <pre>{@code
 * FencedTable<Long> table = FencedTable.of("bank", "account").key("id", id -> LockName.of("account", id));
 * PostgresRows<Long> accounts = PostgresRows.on(dataSource, table);
 *
 * try (FencedLease lease = locks.fenced(accounts.lock(42L)).acquire()) {
 *     RowClaim<Long> claim = accounts.claim(lease, 42L, row -> row.getLong("balance"));
 *     claim.update(RowValues.of("balance", claim.row().orElseThrow() - 10));
 * }
 * }</pre>
 *
 * <p><b>Guarantees:</b> after a claim was admitted, nothing of an earlier one is written to this row, and each accepted write is based
 * on the version that it replaces. A row that was deleted never comes back under an older token. This holds for the row alone: rows
 * that belong together, and everything else that SQL can do, need {@link PostgresFence}.
 *
 * <p><b>Not guaranteed:</b> anything about writers that go around the fence. An unfenced UPDATE may overwrite, an unfenced DELETE or
 * INSERT makes a row whose mark begins anew; {@code fenceline.keep_marks_v1} puts a trigger on the table that keeps the mark of a row
 * deleted so. Nor that two threads of one claim see each other's writes: use one, or {@link RowClaim#in} with {@link RowClaim#read}.
 * After the promotion of an asynchronous standby, claims and writes may be lost together.
 *
 * <p>Not for tables that {@code fenceline.protect} protects: row mode does not enter, so their triggers refuse it, with
 * {@link dev.fenceline.UnfencedWriteException}, or record it where they observe.
 *
 * <p><b>Blocking:</b> a claim waits for a transaction that holds the row, at most for the claim timeout; a write for what is left of
 * the lease, but a second at least, or 10 s for a token without one. A network that falls silent is given up after that time and 5 s.
 * A second connection is never needed while one is held. Nothing in row mode ends a session that blocks it; but a claim of
 * {@link PostgresFence#evictBlockers} under the same lock may end a transaction that makes or removes a row of this table: what that had
 * not committed is undone, and the fence decides as ever.
 *
 * <p>Every statement is a round trip of its own, in auto-commit. The first one asks the catalog about the table too. To claim a row
 * that is not there takes four.
 *
 * <p><b>Thread-safety:</b> immutable; the methods that set something return a copy.
 *
 * @param <K> the key of a row
 */
public final class PostgresRows<K> {

    private final RowEngine<Connection> engine;
    private final FencedTable<K> table;

    private PostgresRows(RowEngine<Connection> engine, FencedTable<K> table) {
        this.engine = engine;
        this.table = table;
    }

    /**
     * Chooses a table in a database. The fence schema is installed by the module {@code fenceline-migrations}, which also grants the
     * rights that row mode needs ({@code grantRowsTo}); nothing is sent yet.
     *
     * @param dataSource hands out connections of the PostgreSQL driver to the primary, pooled or not, outside of any surrounding
     *     transaction
     * @param table what is protected
     * @param <K> the key of a row
     * @return the rows, with the defaults
     */
    public static <K> PostgresRows<K> on(DataSource dataSource, FencedTable<K> table) {
        Objects.requireNonNull(table, "table");
        FromDataSource source = new FromDataSource(Objects.requireNonNull(dataSource, "dataSource"));
        return new PostgresRows<>(RowEngine.of(source, new JdbcRunner(), table), table);
    }

    /**
     * Limits how long a claim, or a blind write, waits for a transaction that holds the row. Without it, what is left of the lease, or
     * 10 s for a token without one.
     *
     * @param timeout from 1 ms to 1 h
     * @return a copy with this limit
     * @throws IllegalArgumentException when it is out of range
     */
    public PostgresRows<K> claimTimeout(Duration timeout) {
        return new PostgresRows<>(engine.with(engine.settings().withClaimTimeout(timeout)), table);
    }

    /**
     * Sets who hears of claims, writes and refusals, in place of the listener that logs.
     *
     * @param listener hears of everything; see {@link FencelineListener#and} to keep the log
     * @return a copy with this listener
     */
    public PostgresRows<K> listener(FencelineListener listener) {
        return new PostgresRows<>(
                engine.with(engine.settings().withListener(Objects.requireNonNull(listener, "listener"))), table);
    }

    /**
     * Has each write record itself in the same statement, so that a lost answer is settled: once by itself, and else by
     * {@link dev.fenceline.OutcomeUnknownException#resolve()}. Costs one more row per write, and one more round trip an hour. Writes in
     * a transaction of yours are not recorded.
     *
     * @return a copy that records
     */
    public PostgresRows<K> recorded() {
        return new PostgresRows<>(engine.recording(), table);
    }

    /**
     * Names the lock of a row: what to acquire before the row is claimed.
     *
     * @param key the row's key
     * @return the lock
     */
    public LockName lock(K key) {
        return table.lock(key);
    }

    /**
     * Raises the mark of a row to the token of a lease, and reads the row. What was read before is not safe to base a write on.
     *
     * <p><b>Guarantees:</b> the claim is committed when this returns, whether there is a row or not: if there is none, nobody with an
     * older token can insert it any more. It is repeated where its answer was lost. Triggers of yours on UPDATE run.
     *
     * <p><b>Blocking:</b> for the claim timeout at most, once for each of up to three connections that break.
     *
     * @param lease a lease of the row's lock, still held
     * @param key the row's key
     * @param reader makes an object of the row, never null; what it throws comes out as it is, and the claim is made nevertheless
     * @param <R> what is made of the row
     * @return the right to write the row, with what was read
     * @throws SQLException what the server says that has nothing to do with the fence
     * @throws dev.fenceline.LeaseLostException when the lease is over; nothing was sent
     * @throws dev.fenceline.StaleTokenException when a newer token was claimed already
     * @throws dev.fenceline.RetryableConflictException when the row was blocked for too long; names the blocker
     * @throws dev.fenceline.TokenRejectedException when the token is of another lock, or more than 25 h ahead of the server's clock
     * @throws dev.fenceline.BackendMisconfiguredException when the table lacks the columns of the mark or a unique index on the key, or
     *     is a view, the server is a standby, synchronous_commit is off, the fence schema is missing, or the role lacks a right; says
     *     what to run
     * @throws dev.fenceline.BackendUnavailableException when the database cannot be reached
     */
    public <R> RowClaim<R> claim(FencedLease lease, K key, RowReader<R> reader) throws SQLException {
        return claim(lease.token(), lease, key, reader);
    }

    /**
     * Raises the mark of a row to a token that came from elsewhere, and reads the row; else as {@link #claim(FencedLease, Object,
     * RowReader)}.
     *
     * @param token of a lease that somebody else keeps
     * @param key the row's key; the token must be one of its lock
     * @param reader makes an object of the row
     * @param <R> what is made of the row
     * @return the right to write the row, with what was read
     * @throws SQLException what the server says that has nothing to do with the fence
     */
    public <R> RowClaim<R> claim(FencingToken token, K key, RowReader<R> reader) throws SQLException {
        return claim(token, null, key, reader);
    }

    /**
     * Goes on under a claim that was made earlier, in another request or another process, and reads the row. Never raises the mark.
     *
     * @param token the token that the row was claimed with
     * @param key the row's key; the token must be one of its lock
     * @param reader makes an object of the row
     * @param <R> what is made of the row
     * @return the right to write the row, if nobody has taken over in the meantime; each write checks that again
     * @throws SQLException what the server says that has nothing to do with the fence
     * @throws dev.fenceline.StaleTokenException when a newer token was claimed
     * @throws dev.fenceline.TokenRejectedException when this token is of another lock, or was never claimed here
     * @throws dev.fenceline.BackendMisconfiguredException as when claiming
     * @throws dev.fenceline.BackendUnavailableException when the database cannot be reached
     */
    public <R> RowClaim<R> resume(FencingToken token, K key, RowReader<R> reader) throws SQLException {
        RowWriter<Connection> writer = writer(token, null, key, Admission.EQUAL);
        Objects.requireNonNull(reader, "reader");
        RowRunner.Reading<Connection, R> reading = reading(writer.target(), reader);
        try {
            return new RowClaim<>(writer, writer.read(reading), reading);
        } catch (StatementFailed failed) {
            throw failed.said();
        }
    }

    /**
     * Writes a row that nobody has read, under a token that need not have been claimed.
     *
     * <p><b>Guarantees:</b> each write is refused if a newer token has claimed or written the row. That does <em>not</em> prevent a lost
     * update where a write is computed from what was read: for that, {@link #claim claim}.
     *
     * @param lease a lease of the row's lock; each write requires that it is held
     * @param key the row's key
     * @return single writes; nothing is sent yet
     */
    public BlindRow blind(FencedLease lease, K key) {
        return new BlindRow(writer(lease.token(), lease, key, Admission.RAISING));
    }

    /**
     * Writes a row that nobody has read, under a token that came from elsewhere; else as {@link #blind(FencedLease, Object)}.
     *
     * @param token of a lease that somebody else keeps
     * @param key the row's key; the token must be one of its lock
     * @return single writes; nothing is sent yet
     */
    public BlindRow blind(FencingToken token, K key) {
        return new BlindRow(writer(token, null, key, Admission.RAISING));
    }

    /**
     * Writes many claimed rows in one statement and one round trip: all of them, or none. For a transfer between rows whose locks are
     * held together, or for many rows that were claimed one by one, be it under one token or each under its own.
     *
     * <p><b>Guarantees:</b> each row is written only if its own mark still equals the token that it was claimed with. Nothing more holds
     * the rows together: whoever claims one of them later has not claimed the others. Claim all before you compute anything.
     *
     * @param changes claims of this table, and what to set; all set the same columns, to values and not to expressions; no columns
     *     that are arrays
     * @throws SQLException what the server says that has nothing to do with the fence
     * @throws IllegalArgumentException when they do not set the same columns, or a row is there twice; nothing was sent
     * @throws dev.fenceline.StaleTokenException when a newer holder has claimed one of the rows; nothing happened
     * @throws dev.fenceline.RowMissingException when one of the rows is not there; nothing happened
     * @throws dev.fenceline.RetryableConflictException as for {@link RowClaim#update}; nothing happened
     * @throws dev.fenceline.OutcomeUnknownException as for {@link RowClaim#update}
     */
    public void updateAll(Map<RowClaim<?>, RowValues> changes) throws SQLException {
        Map<RowWriter<Connection>, RowValues> writers = new LinkedHashMap<>();
        changes.forEach((claim, values) -> writers.put(claim.writer(), values));
        try {
            RowBatch.send(engine, writers);
        } catch (StatementFailed failed) {
            throw failed.said();
        }
    }

    private <R> RowClaim<R> claim(FencingToken token, @Nullable FencedLease lease, K key, RowReader<R> reader)
            throws SQLException {
        RowWriter<Connection> writer = writer(token, lease, key, Admission.EQUAL);
        Objects.requireNonNull(reader, "reader");
        RowRunner.Reading<Connection, R> reading = reading(writer.target(), reader);
        try {
            Optional<R> row = new RowClaimStep<>(engine, writer.session(), reading).run();
            return new RowClaim<>(writer, row, reading);
        } catch (StatementFailed failed) {
            throw failed.said();
        }
    }

    private RowWriter<Connection> writer(FencingToken token, @Nullable FencedLease lease, K key, Admission admission) {
        RowTarget target = RowTarget.of(table, key, token);
        return new RowAutoCommit<>(
                engine,
                new RowSession(target, admission, lease, engine.settings().listener()));
    }

    private static <R> RowRunner.Reading<Connection, R> reading(RowTarget target, RowReader<R> reader) {
        return (connection, statement) -> JdbcRunner.read(connection, statement, target, reader);
    }

    /** Without a guard around the connection: no statement of row mode is the user's own. */
    private record FromDataSource(DataSource dataSource) implements ConnectionSource<Connection> {

        @Override
        public Session<Connection> open(TransactionGuard guard) throws SQLException {
            Connection connection = dataSource.getConnection();
            return Session.of(connection, connection, connection::close);
        }

        @Override
        public Connection connection(Connection context) {
            return context;
        }

        @Override
        public Object origin() {
            return dataSource;
        }

        @Override
        public Optional<SQLException> driverFailure(Throwable escaped) {
            return escaped instanceof SQLException failure ? Optional.of(failure) : Optional.empty();
        }
    }
}
