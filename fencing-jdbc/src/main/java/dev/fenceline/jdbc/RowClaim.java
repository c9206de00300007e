package dev.fenceline.jdbc;

import dev.fenceline.FencingToken;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.Objects;
import java.util.Optional;

/**
 * The right to write one row under one token, for as long as nobody newer has claimed it, with what was read when it was claimed.
 *
 * <p><b>Guarantees:</b> each write takes effect only if the row's mark equals this token at that moment, which the same statement checks
 * that writes. What is written is therefore based on the version that was read, or on what this claim wrote since.
 *
 * <p><b>Not guaranteed:</b> that the lease still runs. It need not: the fence decides, not the lease. Nor that two threads which share
 * this claim see each other's writes: between a read and a write of one, the other may write. Use one thread, or {@link #in} and
 * {@link #read}.
 *
 * <p><b>Blocking:</b> a write waits for a transaction that holds the row, at most for what is left of the lease, but a second at
 * least, or 10 s for a token without one.
 *
 * <p><b>Errors:</b> of every write: {@link dev.fenceline.StaleTokenException} when a newer holder has claimed the row, and nothing
 * happened; {@link dev.fenceline.RetryableConflictException} when it lost a race or was blocked for too long (SQLSTATE 40001, 40P01,
 * 55P03), and nothing happened; {@link dev.fenceline.OutcomeUnknownException} when the answer was lost, or the driver does not say how
 * many rows it wrote; {@link dev.fenceline.TokenRejectedException} when the row's mark is older than this token;
 * {@link dev.fenceline.BackendUnavailableException} and {@link dev.fenceline.BackendMisconfiguredException} as when claiming. A constraint
 * that is violated, and whatever else the server says, comes out as the driver's own exception, and nothing happened.
 *
 * <p><b>Thread-safety:</b> any thread; but see above.
 *
 * @param <R> what is made of the row
 */
public final class RowClaim<R> {

    private final RowWriter<Connection> writer;
    private final Optional<R> row;
    private final RowRunner.Reading<Connection, R> reading;

    RowClaim(RowWriter<Connection> writer, Optional<R> row, RowRunner.Reading<Connection, R> reading) {
        this.writer = writer;
        this.row = row;
        this.reading = reading;
    }

    RowWriter<Connection> writer() {
        return writer;
    }

    /**
     * Returns the token that was claimed, to be handed on to whoever resumes this work elsewhere.
     *
     * @return the token
     */
    public FencingToken token() {
        return writer.target().token();
    }

    /**
     * Returns what was read when the row was claimed or resumed; later writes do not change it.
     *
     * @return empty when there was no row, and nobody with an older token can insert it any more
     */
    public Optional<R> row() {
        return row;
    }

    /**
     * Reads the row again, under an unchanged mark. In a transaction ({@link #in}) the row, or its absence, is also locked until that
     * ends, so that two transactions of one claim that begin with this do not overwrite each other.
     *
     * @return empty when there is no row now
     * @throws SQLException what the server says that has nothing to do with the fence
     * @throws dev.fenceline.StaleTokenException when a newer holder has claimed the row
     */
    public Optional<R> read() throws SQLException {
        try {
            return writer.read(reading);
        } catch (StatementFailed failed) {
            throw failed.said();
        }
    }

    /**
     * Changes the row.
     *
     * @param values what to set, one column at least
     * @throws SQLException what the server says that has nothing to do with the fence
     * @throws dev.fenceline.RowMissingException when there is no such row, and nobody newer has taken over; nothing happened
     */
    public void update(RowValues values) throws SQLException {
        write(RowForm.UPDATE, values);
    }

    /**
     * Makes the row.
     *
     * @param values what to set beside the key
     * @throws SQLException what the server says that has nothing to do with the fence, for instance of another unique column
     * @throws dev.fenceline.RowExistsException when there is such a row already, and nobody newer has taken over; nothing happened
     * @throws IllegalStateException when this thread is inside a transaction of the same lock, on another connection; nothing was sent
     */
    public void insert(RowValues values) throws SQLException {
        write(RowForm.INSERT, values);
    }

    /**
     * Makes the row, or changes it if it is there under this claim.
     *
     * @param values what to set beside the key; an expression is evaluated as for {@link #insert}, and cannot read the row
     * @throws SQLException what the server says that has nothing to do with the fence
     * @throws IllegalStateException when this thread is inside a transaction of the same lock, on another connection; nothing was sent
     */
    public void upsert(RowValues values) throws SQLException {
        write(RowForm.UPSERT, values);
    }

    /**
     * Removes the row. Its mark stays with the guard, so it never comes back under an older token.
     *
     * @throws SQLException what the server says that has nothing to do with the fence, for instance of a foreign key
     * @throws dev.fenceline.RowMissingException when there is no such row, and nobody newer has taken over; nothing happened
     * @throws IllegalStateException when this thread is inside a transaction of the same lock, on another connection; nothing was sent
     */
    public void delete() throws SQLException {
        write(RowForm.DELETE, RowValues.none());
    }

    /**
     * Lets the same claim write in a transaction of yours, together with other things. Where all of them belong under the fence, use
     * {@link PostgresFence} instead.
     *
     * <p><b>Guarantees:</b> each write is checked as it is made, and keeps the row locked until the transaction ends: nobody newer can
     * claim the row in between. It takes effect iff the transaction commits. A transaction in which a statement was refused as stale
     * has failed, and cannot commit, unless it is rolled back to a savepoint of yours.
     *
     * <p>Above READ COMMITTED begin the transaction after the claim. One that began before may look at a snapshot in which the row is
     * not claimed yet, or not there: it is made to fail, with {@link dev.fenceline.RetryableConflictException}, and works when it is run
     * again.
     *
     * <p><b>Not guaranteed:</b> that the commit happened: a driver reports the commit of a failed transaction as success, and a lost
     * answer stays unknown. A {@code RowMissingException} does not fail the transaction; a {@code RowExistsException} does, and there
     * nobody can look any more whether somebody newer has claimed that row. No timeout is set: whoever is paused in a
     * transaction keeps others waiting, unless {@code idle_in_transaction_session_timeout} is set.
     *
     * @param connection in a transaction, of the same database; not in auto-commit and not with the driver's {@code autosave=always},
     *     which each statement checks
     * @return the same claim; {@link #row} is what was read before
     */
    public RowClaim<R> in(Connection connection) {
        Objects.requireNonNull(connection, "connection");
        return new RowClaim<>(new RowInTransaction<>(writer.engine(), writer.session(), connection), row, reading);
    }

    private void write(RowForm form, RowValues values) throws SQLException {
        try {
            writer.write(form, values);
        } catch (StatementFailed failed) {
            throw failed.said();
        }
    }
}
