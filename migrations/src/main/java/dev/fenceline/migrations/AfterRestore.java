package dev.fenceline.migrations;

import dev.fenceline.BackendMisconfiguredException;
import dev.fenceline.migrations.MarkedTable.Locked;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.UUID;
import java.util.function.Consumer;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Raises all marks of a database, in batches that commit by themselves.
 *
 * <p>No place is remembered from run to run. A dump may hold the places of a run that was under way, and to go on from there would pass over marks
 * that somebody has claimed since. Nor does a run pass over what an earlier one has raised: whether that was before the dump or after the restore is
 * not to be seen, and a grant that is newer than that raising could still claim such a mark. So each run meets every mark and raises it.
 */
final class AfterRestore {

    private static final int LOCKS = 500;
    private static final String GUARD = "fenceline.guard";
    private static final String REASON = "all marks are raised after a restore";

    private final Connection connection;
    private final Wording wording;
    private final Duration patience;
    private final Consumer<? super RestoreProgress> progress;
    private final List<Restoration.Raised> raised = new ArrayList<>();
    private final List<Restoration.Left> left = new ArrayList<>();

    AfterRestore(
            Connection connection, Wording wording, Duration patience, Consumer<? super RestoreProgress> progress) {
        this.connection = connection;
        this.wording = wording;
        this.patience = patience;
        this.progress = progress;
    }

    Restoration run() throws SQLException {
        List<MarkedTable> tables = MarkedTable.all(connection);
        requireRights(tables);
        UUID holder = Raising.begin(connection, null);
        raiseGuard(holder);
        try {
            for (MarkedTable table : tables) {
                raiseRows(table, holder);
            }
        } finally {
            if (!connection.getAutoCommit()) {
                connection.rollback();
                connection.setAutoCommit(true);
            }
        }
        return new Restoration(holder, raised, left);
    }

    private void requireRights(List<MarkedTable> tables) throws SQLException {
        List<String> missing = tables.stream()
                .filter(table -> table.rights() == MarkedTable.Rights.MISSING)
                .map(MarkedTable::name)
                .toList();
        if (!missing.isEmpty()) {
            throw new BackendMisconfiguredException(
                    "Raising all marks refused: role '" + one("SELECT current_user")
                            + "' may not read and write the marks in the rows of " + String.join(", ", missing)
                            + ". Nothing was raised. Connect as the owner of these tables, or grant: "
                            + missing.stream()
                                    .map(name ->
                                            "GRANT SELECT, UPDATE (fence_token, fence_holder) ON " + name + " TO …;")
                                    .collect(Collectors.joining(" ")),
                    null);
        }
        List<String> closed = tables.stream()
                .filter(table -> table.protection() == MarkedTable.Protection.PROTECTED)
                .map(MarkedTable::name)
                .toList();
        if (!closed.isEmpty()
                && "f".equals(one("SELECT pg_catalog.has_function_privilege('fenceline.bypass(text)', 'EXECUTE')"))) {
            throw new BackendMisconfiguredException(
                    "Raising all marks refused: " + String.join(", ", closed)
                            + " carry marks in their rows and are protected, and role '" + one("SELECT current_user")
                            + "' may not go around the fence. Nothing was raised. Run "
                            + wording.grant(Wording.Right.BYPASS) + " as the owner of the schema.",
                    null);
        }
    }

    private void raiseGuard(UUID holder) throws SQLException {
        List<String> busy = new ArrayList<>();
        String after = "";
        long looked = 0;
        long marks = 0;
        for (boolean more = true; more; ) {
            String from = after;
            Batch batch = ReadCommitted.ask(connection, session -> raiseBatch(session, holder, from));
            after = batch.last();
            looked += batch.looked();
            marks += batch.raised();
            busy.addAll(batch.busy());
            more = batch.looked() == LOCKS;
            progress.accept(new RestoreProgress(GUARD, looked, marks, !more && busy.isEmpty()));
        }
        for (String lock : busy) {
            Optional<Raising.Obstacle> obstacle = Raising.raise(connection, lock, holder, patience);
            obstacle.ifPresent(it -> left.add(new Restoration.Left(GUARD, "lock '" + lock + "'", it.reason())));
            marks += obstacle.isPresent() ? 0 : 1;
        }
        if (!busy.isEmpty()) {
            progress.accept(new RestoreProgress(GUARD, looked, marks, true));
        }
        raised.add(new Restoration.Raised(GUARD, marks));
    }

    private record Batch(String last, long looked, long raised, List<String> busy) {}

    private static Batch raiseBatch(Connection session, UUID holder, String after) throws SQLException {
        try (PreparedStatement statement = session.prepareStatement(
                "SELECT last_lock, looked, raised, busy FROM fenceline.raise_marks_v1(?, ?, ?)")) {
            statement.setObject(1, holder);
            statement.setString(2, after);
            statement.setInt(3, LOCKS);
            try (ResultSet row = statement.executeQuery()) {
                row.next();
                return new Batch(row.getString(1), row.getLong(2), row.getLong(3), Sql.texts(row, 4));
            }
        }
    }

    private void raiseRows(MarkedTable table, UUID holder) throws SQLException {
        List<String> after = List.of();
        long looked = 0;
        long marks = 0;
        int leftBefore = left.size();
        do {
            List<String> from = after;
            // Without a key this is the one statement for all rows, and waits.
            MarkedTable.Page page = transaction(table, after, () -> table.raise(connection, holder, from, Locked.SKIP))
                    .orElse(MarkedTable.Page.NONE);
            looked += page.looked();
            marks += page.raised();
            after = page.last();
            if (page.left() > 0) {
                Optional<MarkedTable.Page> awaited =
                        transaction(table, from, () -> table.raise(connection, holder, from, Locked.AWAIT));
                marks += awaited.orElse(MarkedTable.Page.NONE).raised();
                // Rows that came in between push others out of the page: those are met on the next one.
                after = awaited.map(MarkedTable.Page::last).orElse(after);
            }
            progress.accept(new RestoreProgress(table.name(), looked, marks, after.isEmpty()));
        } while (!after.isEmpty());
        MarkedTable.Rest rest = lookAgain(table, holder);
        if (rest.unraised() > 0 && left.size() == leftBefore) {
            marks += sweep(table, holder);
        }
        if (rest.tooHigh() > 0) {
            left.add(new Restoration.Left(
                    table.name(),
                    rest.tooHigh() == 1 ? "the mark of 1 row" : "the marks of " + rest.tooHigh() + " rows",
                    "they are so high that none can be higher, and were claimed by no fence. Find out who wrote them; then set"
                            + " fence_token = 0 and fence_holder = NULL WHERE fence_token >= " + MarkedTable.HIGHEST));
        }
        raised.add(new Restoration.Raised(table.name(), marks));
    }

    private MarkedTable.Rest lookAgain(MarkedTable table, UUID holder) throws SQLException {
        return ReadCommitted.ask(connection, session -> {
            set(table);
            return table.rest(session, holder);
        });
    }

    /**
     * Raises what the pages have passed by. Whoever is still admitted may change the key of his row to one that is behind us; one statement sees all
     * rows as of its beginning, and follows each to where it was moved.
     */
    private long sweep(MarkedTable table, UUID holder) throws SQLException {
        return transaction(table, List.of(), () -> table.raiseAll(connection, holder))
                .map(MarkedTable.Page::raised)
                .orElse(0L);
    }

    /** Raises a page and commits it; empty, and noted as left, when somebody was in the way. */
    private Optional<MarkedTable.Page> transaction(MarkedTable table, List<String> after, Step step)
            throws SQLException {
        ReadCommitted.begin(connection);
        set(table);
        if (table.protection() == MarkedTable.Protection.PROTECTED) {
            one("SELECT fenceline.bypass('" + REASON + "')::text");
        }
        MarkedTable.Page page;
        try {
            page = step.raise();
        } catch (SQLException e) {
            connection.rollback();
            if (!Questions.isInTheWay(e)) {
                throw e;
            }
            left.add(new Restoration.Left(
                    table.name(),
                    after.isEmpty() ? "rows from the first on" : "rows after key (" + String.join(", ", after) + ")",
                    "for " + patience.toMillis() + " ms they were in use by " + writerOf(table)));
            connection.rollback();
            return Optional.empty();
        }
        connection.commit();
        return Optional.of(page);
    }

    /** Settings for this transaction: rows that a policy hides are an error and not passed over, and the key's operators are found. */
    private void set(MarkedTable table) throws SQLException {
        try (PreparedStatement statement =
                connection.prepareStatement("SELECT pg_catalog.set_config('row_security', 'off', true),"
                        + " pg_catalog.set_config('lock_timeout', ?, true),"
                        + " pg_catalog.set_config('search_path', pg_catalog.concat_ws(', ',"
                        + " nullif(pg_catalog.current_setting('search_path'), ''), nullif(?, '')), true)")) {
            statement.setString(1, Long.toString(patience.toMillis()));
            statement.setString(2, table.operatorSchemas());
            statement.executeQuery().close();
        }
    }

    private String writerOf(MarkedTable table) throws SQLException {
        return Objects.requireNonNullElse(
                one("SELECT (SELECT pg_catalog.format('pid %s (application ''%s'')', l.pid, a.application_name)"
                        + " FROM pg_catalog.pg_locks l JOIN pg_catalog.pg_stat_activity a ON a.pid = l.pid"
                        + " WHERE l.relation = " + table.oid()
                        + " AND l.mode IN ('RowShareLock', 'RowExclusiveLock') AND l.pid <> pg_catalog.pg_backend_pid()"
                        + " ORDER BY a.xact_start LIMIT 1)"),
                "a session that has ended meanwhile");
    }

    private @Nullable String one(String sql) throws SQLException {
        try (Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery(sql)) {
            row.next();
            return row.getString(1);
        }
    }

    /** One page, in an open transaction. */
    @FunctionalInterface
    private interface Step {
        MarkedTable.Page raise() throws SQLException;
    }
}
