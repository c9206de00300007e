package dev.fenceline.jdbc;

import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Many rows, each under its own claim, in one statement: all of them or none. */
final class RowBatch<C> {

    private final RowEngine<C> engine;
    private final List<RowSession> sessions = new ArrayList<>();
    private final List<RowValues> values = new ArrayList<>();

    private RowBatch(RowEngine<C> engine) {
        this.engine = engine;
    }

    static <C> void send(RowEngine<C> engine, Map<? extends RowWriter<C>, RowValues> changes) throws StatementFailed {
        if (!changes.isEmpty()) {
            RowBatch<C> batch = new RowBatch<>(engine);
            changes.forEach(batch::add);
            batch.send();
        }
    }

    private void add(RowWriter<C> writer, RowValues change) {
        RowTarget target = writer.target();
        if (!writer.engine().isLike(engine) || !(writer instanceof RowAutoCommit<C>)) {
            throw refused(target, "its claim is one of another table or data source, or is used in a transaction");
        }
        change.check("Update", target.resource(), engine.table().keyColumns());
        if (change.columns().isEmpty()) {
            throw refused(target, "it sets no column");
        }
        if (!values.isEmpty() && !areSame(change.columns(), values.get(0).columns())) {
            throw refused(
                    target,
                    "it sets the columns " + change.columns() + ", and another one "
                            + values.get(0).columns() + "; in a batch all rows set the same");
        }
        for (String column : change.columns()) {
            change.expression(column).ifPresent(expression -> {
                throw refused(
                        target,
                        "column " + column + " is given the expression '" + expression
                                + "', and a batch sends values only; update this row by itself");
            });
        }
        sessions.add(writer.session());
        values.add(change);
    }

    private void send() throws StatementFailed {
        Set<List<Object>> keys = new HashSet<>();
        for (RowSession session : sessions) {
            if (!keys.add(session.target().key())) {
                throw refused(session.target(), "it is in the batch twice");
            }
        }
        List<String> columns = values.get(0).columns();
        List<List<@Nullable Object>> arrays = new ArrayList<>();
        for (String column : columns) {
            List<@Nullable Object> array = new ArrayList<>();
            values.forEach(change -> array.add(change.plain(column)));
            arrays.add(array);
        }
        List<RowTarget> targets = sessions.stream().map(RowSession::target).toList();
        Duration wait = sessions.stream()
                .map(RowSession::patience)
                .min(Duration::compareTo)
                .orElseThrow();
        RowRights rights = RowRights.toWrite(RowForm.UPDATE, engine.table(), columns, Admission.EQUAL);
        new RowSend<>(engine, RowForm.UPDATE, sessions, rights, wait)
                .run((sql, operation) -> sql.batch(targets, columns, arrays, operation));
    }

    /** In the same order as a rule, which needs no sets for each row. */
    private static boolean areSame(List<String> columns, List<String> others) {
        return columns.equals(others) || Set.copyOf(columns).equals(Set.copyOf(others));
    }

    private static IllegalArgumentException refused(RowTarget target, String why) {
        return new IllegalArgumentException(
                "Batch with " + target.resource() + " refused: " + why + ". Nothing was sent.");
    }
}
