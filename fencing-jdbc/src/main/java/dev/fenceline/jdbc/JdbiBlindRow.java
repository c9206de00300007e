package dev.fenceline.jdbc;

import org.jdbi.v3.core.Handle;

/**
 * Writes to a row that are not based on what the row holds, for Jdbi: as {@link BlindRow}, with values that Jdbi binds.
 *
 * <p><b>Thread-safety:</b> any thread.
 */
public final class JdbiBlindRow {

    private final RowWriter<Handle> writer;

    JdbiBlindRow(RowWriter<Handle> writer) {
        this.writer = writer;
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
     * Makes the row, or changes it.
     *
     * @param values what to set beside the key
     */
    public void upsert(JdbiRowValues values) {
        write(RowForm.UPSERT, values);
    }

    private void write(RowForm form, JdbiRowValues values) {
        try {
            writer.write(form, values);
        } catch (StatementFailed failed) {
            throw failed.unchecked();
        }
    }
}
