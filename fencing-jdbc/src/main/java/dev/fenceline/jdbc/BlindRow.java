package dev.fenceline.jdbc;

import java.sql.Connection;
import java.sql.SQLException;

/**
 * Writes to a row that are not based on what the row holds: a status, a heartbeat, the whole content from elsewhere.
 *
 * <p><b>Guarantees:</b> a write is refused if a newer token has claimed or written the row, and else raises the mark to this token.
 *
 * <p><b>Not guaranteed:</b> that nothing is lost between a read and such a write. Whoever reads first must claim.
 *
 * <p><b>Blocking:</b> for the claim timeout at most. <b>Errors:</b> as for {@link RowClaim}, and
 * {@link dev.fenceline.LeaseLostException} when the lease is over; nothing was sent.
 *
 * <p><b>Thread-safety:</b> any thread.
 */
public final class BlindRow {

    private final RowWriter<Connection> writer;

    BlindRow(RowWriter<Connection> writer) {
        this.writer = writer;
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
     * @throws SQLException what the server says that has nothing to do with the fence
     * @throws dev.fenceline.RowExistsException when there is such a row already, and nobody newer has taken over; nothing happened
     * @throws IllegalStateException when this thread is inside a transaction of the same lock, on another connection; nothing was sent
     */
    public void insert(RowValues values) throws SQLException {
        write(RowForm.INSERT, values);
    }

    /**
     * Makes the row, or changes it.
     *
     * @param values what to set beside the key
     * @throws SQLException what the server says that has nothing to do with the fence
     * @throws IllegalStateException when this thread is inside a transaction of the same lock, on another connection; nothing was sent
     */
    public void upsert(RowValues values) throws SQLException {
        write(RowForm.UPSERT, values);
    }

    private void write(RowForm form, RowValues values) throws SQLException {
        try {
            writer.write(form, values);
        } catch (StatementFailed failed) {
            throw failed.said();
        }
    }
}
