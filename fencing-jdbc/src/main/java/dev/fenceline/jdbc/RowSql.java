package dev.fenceline.jdbc;

import dev.fenceline.FencingToken;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.IntFunction;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * Writes the statements of row mode.
 *
 * <p>Invariant: while a row exists its own mark decides, while it does not the guard's; each statement compares and writes in one
 * atomic step. Only a claim and a write that is based on nothing may find an older mark, and they stamp their own; everything else
 * compares for equality. What makes a row or removes it raises the guard in the same statement, and does nothing if the guard
 * refuses: so a deleted row never comes back under an older token.
 */
final class RowSql {

    // Claimed by whom is told as in claim_v1. The check is evaluated before the row is looked for, and may raise.
    private static final String GUARD_OPEN =
            "INSERT INTO fenceline.guard AS g (lock, token, holder, claimed_at, claimed_by) SELECT ";
    private static final String GUARD_CLOSE =
            " ON CONFLICT (lock) DO UPDATE SET token = excluded.token, holder = excluded.holder,"
                    + " claimed_at = excluded.claimed_at, claimed_by = excluded.claimed_by"
                    + " WHERE excluded.token > g.token OR (excluded.token = g.token AND excluded.holder = g.holder) RETURNING 1";

    private final FencedTable<?> table;
    private final TableShape shape;
    private final RowStatement.Placeholder placeholder;
    private final Optional<Integer> waitMillis;

    /** Empty where the transaction is the user's, and how long it waits too. */
    RowSql(FencedTable<?> table, TableShape shape, RowStatement.Placeholder placeholder, Optional<Integer> waitMillis) {
        this.table = table;
        this.shape = shape;
        this.placeholder = placeholder;
        this.waitMillis = waitMillis;
    }

    private RowStatement begin() {
        return new RowStatement(placeholder);
    }

    /** Raises the row's mark, and returns the version that was locked. */
    RowStatement claim(RowTarget row) {
        RowStatement sql = begin().text("UPDATE " + table + " AS a SET ");
        mark(sql, row.token()).text(" WHERE ");
        key(sql, row).text(" AND ");
        return admission(sql, row.token(), Admission.RAISING).text(" RETURNING a.*");
    }

    /** Raises the guard's mark, alone. */
    RowStatement raiseGuard(RowTarget row) {
        return guard(begin(), row.token());
    }

    /** Reads the row under an unchanged mark. */
    RowStatement read(RowTarget row) {
        RowStatement sql = begin().text("SELECT a.* FROM " + table + " AS a WHERE ");
        return marked(key(sql, row).text(" AND "), row.token());
    }

    /** Reads the row under an unchanged mark, and keeps every other transaction from writing it. */
    RowStatement lock(RowTarget row) {
        return read(row).text(" FOR NO KEY UPDATE OF a");
    }

    /** Keeps everybody else from making the row that is not there, while the guard's mark is ours. */
    RowStatement lockGuard(FencingToken token) {
        RowStatement sql = begin().text("SELECT 1 FROM fenceline.guard AS g WHERE g.lock = ");
        sql.parameter(token.lock().toString()).text(" AND g.token = ").parameter(token.value());
        return sql.text(" AND g.holder = ").parameter(token.holder()).text(" FOR NO KEY UPDATE");
    }

    RowStatement write(
            RowForm form, RowTarget row, ColumnValues values, Admission admission, Optional<RowOperation> operation) {
        RowStatement sql = begin();
        if (form.movesGuard() || operation.isPresent()) {
            sql.text("WITH ");
        }
        if (form.movesGuard()) {
            guard(sql.text("g AS ("), row.token()).text(operation.isPresent() ? "), " : ") ");
        }
        if (operation.isEmpty()) {
            return body(sql, form, row, values, admission);
        }
        body(sql.text("w AS ("), form, row, values, admission).text(" RETURNING 1) SELECT count(*), (SELECT ");
        return record(sql, operation.get()).text(" FROM w) FROM w").counting();
    }

    private RowStatement body(RowStatement sql, RowForm form, RowTarget row, ColumnValues values, Admission admission) {
        return switch (form) {
            case UPDATE -> update(sql, row, values, admission);
            case DELETE -> delete(sql, row);
            case INSERT -> insert(sql, row, values);
            case UPSERT -> upsert(insert(sql, row, values), row, values, admission);
        };
    }

    private RowStatement update(RowStatement sql, RowTarget row, ColumnValues values, Admission admission) {
        sql.text("UPDATE " + table + " AS a SET ");
        for (int i = 0; i < values.columns().size(); i++) {
            sql.text((i > 0 ? ", " : "") + FencedTable.quoted(values.columns().get(i)) + " = ");
            sql.value(values, i, shape);
        }
        if (admission == Admission.RAISING) {
            mark(sql.text(values.columns().isEmpty() ? "" : ", "), row.token());
        }
        return admission(key(sql.text(" WHERE "), row).text(" AND "), row.token(), admission);
    }

    private RowStatement delete(RowStatement sql, RowTarget row) {
        key(sql.text("DELETE FROM " + table + " AS a WHERE "), row).text(" AND ");
        return marked(sql, row.token()).text(" AND EXISTS (SELECT 1 FROM g)");
    }

    private RowStatement insert(RowStatement sql, RowTarget row, ColumnValues values) {
        sql.text("INSERT INTO " + table + " AS a (" + names(table.keyColumns()) + ", ");
        values.columns().forEach(column -> sql.text(FencedTable.quoted(column) + ", "));
        sql.text("fence_token, fence_holder) SELECT ");
        for (int i = 0; i < row.key().size(); i++) {
            sql.cast(row.key().get(i), shape.type(table.keyColumns().get(i))).text(", ");
        }
        for (int i = 0; i < values.columns().size(); i++) {
            sql.value(values, i, shape).text(", ");
        }
        sql.text("CAST(").parameter(row.token().value()).text(" AS bigint), CAST(");
        return sql.parameter(row.token().holder()).text(" AS uuid) WHERE EXISTS (SELECT 1 FROM g)");
    }

    private RowStatement upsert(RowStatement sql, RowTarget row, ColumnValues values, Admission admission) {
        sql.text(" ON CONFLICT (" + names(table.keyColumns()) + ") DO UPDATE SET ");
        for (String column : values.columns()) {
            String quoted = FencedTable.quoted(column);
            sql.text(quoted + " = excluded." + quoted + ", ");
        }
        sql.text("fence_token = excluded.fence_token, fence_holder = excluded.fence_holder WHERE ");
        // The guard was raised, and so checked, by the same statement.
        return admission == Admission.EQUAL ? marked(sql, row.token()) : older(sql, row.token());
    }

    /** All rows or none: each is compared with the token that it was claimed with. */
    RowStatement batch(
            List<RowTarget> rows,
            List<String> columns,
            List<List<@Nullable Object>> values,
            Optional<RowOperation> operation) {
        List<String> keys = table.keyColumns();
        RowStatement sql = begin().text("WITH w AS (UPDATE " + table + " AS a SET ");
        sql.text(each(columns.size(), i -> FencedTable.quoted(columns.get(i)) + " = v.v" + i, ", "));
        sql.text(" FROM unnest(");
        keyArrays(sql, rows);
        for (int i = 0; i < columns.size(); i++) {
            array(sql, columns.get(i), values.get(i)).text(", ");
        }
        array(
                        sql,
                        FencedTable.TOKEN,
                        rows.stream().map(row -> row.token().value()).toList())
                .text(", ");
        array(
                sql,
                FencedTable.HOLDER,
                rows.stream().map(row -> row.token().holder()).toList());
        sql.text(") AS v (" + each(keys.size(), i -> "k" + i + ", ", "")
                + each(columns.size(), i -> "v" + i + ", ", ""));
        sql.text("t, h) WHERE "
                + each(keys.size(), i -> "a." + FencedTable.quoted(keys.get(i)) + " = v.k" + i, " AND "));
        sql.text(" AND a.fence_token = v.t AND a.fence_holder = v.h");
        limitWait(sql).text(" RETURNING 1) SELECT CASE WHEN count(*) = ").parameter((long) rows.size());
        if (operation.isPresent()) {
            record(sql.text(" THEN CASE WHEN "), operation.get()).text(" THEN count(*) END");
        } else {
            sql.text(" THEN count(*)");
        }
        FencingToken first = rows.get(0).token();
        sql.text(" ELSE fenceline.refuse_row_v1(").parameter(table.toString()).text(", ");
        sql.parameter(first.lock().toString()).text(", ").parameter(first.value());
        sql.text(", ").parameter("another one for some of " + rows.size() + " rows");
        return sql.text(") END FROM w").counting();
    }

    /** Reads the marks of rows and of their guards in one snapshot, in their order. */
    RowStatement marks(List<RowTarget> rows) {
        List<String> keys = table.keyColumns();
        RowStatement sql = begin().text(
                        "SELECT a.fence_token IS NOT NULL, a.fence_token, a.fence_holder, g.token, g.holder"
                                + " FROM unnest(");
        keyArrays(sql, rows);
        List<@Nullable Object> locks = new ArrayList<>(
                rows.stream().map(row -> row.token().lock().toString()).toList());
        sql.text("CAST(")
                .parameter(new RowStatement.Values("text", locks))
                .text(" AS text[])) WITH ORDINALITY AS v (" + each(keys.size(), i -> "k" + i + ", ", "") + "l, n)");
        sql.text(" LEFT JOIN " + table + " AS a ON "
                + each(keys.size(), i -> "a." + FencedTable.quoted(keys.get(i)) + " = v.k" + i, " AND "));
        return sql.text(" LEFT JOIN fenceline.guard AS g ON g.lock = v.l ORDER BY v.n");
    }

    /** Names who holds the row: every transaction holds a lock on its own number. */
    RowStatement blocker(RowTarget row) {
        RowStatement sql = begin().text("SELECT l.pid, coalesce(s.application_name, '') FROM " + table + " AS a"
                + " JOIN pg_catalog.pg_locks l ON l.locktype = 'transactionid' AND l.transactionid = a.xmax"
                + " AND l.mode = 'ExclusiveLock' AND l.granted"
                + " LEFT JOIN pg_catalog.pg_stat_activity s ON s.pid = l.pid WHERE ");
        return key(sql, row).text(" LIMIT 1");
    }

    /** Makes the user's transaction one that cannot commit. */
    RowStatement refuse(FencingToken token, String newest) {
        RowStatement sql = begin().text("SELECT fenceline.refuse_row_v1(").parameter(table.toString());
        sql.text(", ").parameter(token.lock().toString()).text(", ").parameter(token.value());
        return sql.text(", ").parameter(newest).text(")");
    }

    private RowStatement guard(RowStatement sql, FencingToken token) {
        sql.text(GUARD_OPEN + "CAST(").parameter(token.lock().toString()).text(" AS text), CAST(");
        sql.parameter(token.value()).text(" AS bigint), CAST(").parameter(token.holder());
        sql.text(" AS uuid), pg_catalog.clock_timestamp(), pg_catalog.current_setting('application_name') WHERE ");
        return checked(sql, token).text(GUARD_CLOSE);
    }

    private RowStatement key(RowStatement sql, RowTarget row) {
        for (int i = 0; i < row.key().size(); i++) {
            String column = table.keyColumns().get(i);
            sql.text((i > 0 ? " AND a." : "a.") + FencedTable.quoted(column) + " = ");
            sql.cast(row.key().get(i), shape.type(column));
        }
        return sql;
    }

    private RowStatement admission(RowStatement sql, FencingToken token, Admission admission) {
        return admission == Admission.EQUAL
                ? limitWait(marked(sql, token))
                : checked(older(sql, token).text(" AND "), token);
    }

    private static RowStatement mark(RowStatement sql, FencingToken token) {
        sql.text("fence_token = ").parameter(token.value());
        return sql.text(", fence_holder = ").parameter(token.holder());
    }

    private static RowStatement marked(RowStatement sql, FencingToken token) {
        sql.text("a.fence_token = ").parameter(token.value());
        return sql.text(" AND a.fence_holder = ").parameter(token.holder());
    }

    private static RowStatement older(RowStatement sql, FencingToken token) {
        sql.text("(").parameter(token.value()).text(" > a.fence_token OR (");
        return marked(sql, token).text("))");
    }

    private RowStatement checked(RowStatement sql, FencingToken token) {
        sql.text("(SELECT fenceline.check_claim_v1(").parameter(token.value()).text(", CAST(");
        return sql.parameter(waitMillis.orElse(null)).text(" AS integer)))");
    }

    /** A subquery that depends on no row is evaluated before the first one is looked for, and so before a lock is waited for. */
    private RowStatement limitWait(RowStatement sql) {
        if (waitMillis.isPresent()) {
            sql.text(" AND (SELECT pg_catalog.set_config('lock_timeout', ").parameter(String.valueOf(waitMillis.get()));
            sql.text(", true)) IS NOT NULL");
        }
        return sql;
    }

    private static RowStatement record(RowStatement sql, RowOperation operation) {
        sql.text("fenceline.record_row_v1(").parameter(operation.id()).text(", ");
        return sql.parameter(operation.begunAt()).text(")");
    }

    private void keyArrays(RowStatement sql, List<RowTarget> rows) {
        for (int i = 0; i < table.keyColumns().size(); i++) {
            int part = i;
            array(
                            sql,
                            table.keyColumns().get(i),
                            rows.stream().map(row -> row.key().get(part)).toList())
                    .text(", ");
        }
    }

    private RowStatement array(RowStatement sql, String column, List<? extends @Nullable Object> values) {
        String element = shape.element(table, column);
        sql.text("CAST(").parameter(new RowStatement.Values(element, new ArrayList<>(values)));
        return sql.text(" AS " + shape.type(column).orElseThrow() + "[])");
    }

    private static String names(List<String> columns) {
        return columns.stream().map(FencedTable::quoted).collect(Collectors.joining(", "));
    }

    private static String each(int count, IntFunction<String> text, String between) {
        return IntStream.range(0, count).mapToObj(text).collect(Collectors.joining(between));
    }
}
