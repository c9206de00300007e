package dev.fenceline.jdbc;

import dev.fenceline.FencingToken;
import java.util.Objects;
import java.util.Optional;
import org.jdbi.v3.core.Handle;

/**
 * The right to write one row under one token, for Jdbi: as {@link RowClaim}, with values that Jdbi binds and rows that it maps.
 *
 * <p><b>Errors:</b> as for {@link RowClaim}; what has nothing to do with the fence comes out as Jdbi's own exception.
 *
 * <p><b>Thread-safety:</b> as for {@link RowClaim}.
 *
 * @param <R> what is made of the row
 */
public final class JdbiRowClaim<R> {

    private final RowWriter<Handle> writer;
    private final Optional<R> row;
    private final RowRunner.Reading<Handle, R> reading;

    JdbiRowClaim(RowWriter<Handle> writer, Optional<R> row, RowRunner.Reading<Handle, R> reading) {
        this.writer = writer;
        this.row = row;
        this.reading = reading;
    }

    RowWriter<Handle> writer() {
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
     * Reads the row again, as {@link RowClaim#read} does.
     *
     * @return empty when there is no row now
     * @throws dev.fenceline.StaleTokenException when a newer holder has claimed the row
     */
    public Optional<R> read() {
        try {
            return writer.read(reading);
        } catch (StatementFailed failed) {
            throw failed.unchecked();
        }
    }

    /**
     * Changes the row.
     *
     * @param values what to set, one column at least
     * @throws dev.fenceline.RowMissingException when there is no such row, and nobody newer has taken over; nothing happened
     */
    public void update(JdbiRowValues values) {
        write(RowForm.UPDATE, values);
    }

    /**
     * Makes the row.
     *
     * @param values what to set beside the key
     * @throws dev.fenceline.RowExistsException when there is such a row already, and nobody newer has taken over; nothing happened
     */
    public void insert(JdbiRowValues values) {
        write(RowForm.INSERT, values);
    }

    /**
     * Makes the row, or changes it if it is there under this claim.
     *
     * @param values what to set beside the key; an expression is evaluated as for {@link #insert}, and cannot read the row
     */
    public void upsert(JdbiRowValues values) {
        write(RowForm.UPSERT, values);
    }

    /**
     * Removes the row. Its mark stays with the guard, so it never comes back under an older token.
     *
     * @throws dev.fenceline.RowMissingException when there is no such row, and nobody newer has taken over; nothing happened
     */
    public void delete() {
        write(RowForm.DELETE, RowValues.none());
    }

    /**
     * Lets the same claim write in a transaction of yours; what holds then stands at {@link RowClaim#in}.
     *
     * @param handle in a transaction, of the same database
     * @return the same claim; {@link #row} is what was read before
     */
    public JdbiRowClaim<R> in(Handle handle) {
        Objects.requireNonNull(handle, "handle");
        return new JdbiRowClaim<>(new RowInTransaction<>(writer.engine(), writer.session(), handle), row, reading);
    }

    private void write(RowForm form, ColumnValues values) {
        try {
            writer.write(form, values);
        } catch (StatementFailed failed) {
            throw failed.unchecked();
        }
    }
}
