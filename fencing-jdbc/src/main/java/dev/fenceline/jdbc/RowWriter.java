package dev.fenceline.jdbc;

import java.util.Optional;

/**
 * Writes and reads the row of one session.
 *
 * @param <C> the connection of the library that the user has chosen
 */
abstract class RowWriter<C> {

    private final RowEngine<C> engine;
    private final RowSession session;

    RowWriter(RowEngine<C> engine, RowSession session) {
        this.engine = engine;
        this.session = session;
    }

    final RowEngine<C> engine() {
        return engine;
    }

    final RowSession session() {
        return session;
    }

    final RowTarget target() {
        return session.target();
    }

    final void write(RowForm form, ColumnValues values) throws StatementFailed {
        values.check(form.step(), target().resource(), engine.table().keyColumns());
        if (form == RowForm.UPDATE && values.columns().isEmpty()) {
            throw new IllegalArgumentException("Update of " + target().resource()
                    + " refused: it sets no column. Nothing was sent; give it a value.");
        }
        send(form, values);
    }

    abstract void send(RowForm form, ColumnValues values) throws StatementFailed;

    /** Reads the row under an unchanged mark; empty when there is none, and the guard says that this is our doing or finding. */
    abstract <R> Optional<R> read(RowRunner.Reading<C, R> reading) throws StatementFailed;
}
