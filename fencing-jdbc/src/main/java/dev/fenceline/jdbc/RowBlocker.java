package dev.fenceline.jdbc;

import dev.fenceline.FencingToken;
import dev.fenceline.LockName;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Names who holds a row, or its guard, that a statement has waited for in vain. */
final class RowBlocker {

    private RowBlocker() {}

    static String of(Connection connection, RowEngine<?> engine, List<RowSession> sessions) {
        try {
            for (RowSession session : sessions) {
                RowTarget target = session.target();
                RowStatement sql = engine.plain(connection).blocker(target);
                try (PreparedStatement statement = JdbcRunner.prepare(connection, sql);
                        ResultSet row = statement.executeQuery()) {
                    if (row.next()) {
                        return "pid " + row.getInt(1) + ", application_name '" + row.getString(2) + "'";
                    }
                }
            }
            // Several rows may have one lock.
            Map<LockName, FencingToken> byLock = new LinkedHashMap<>();
            sessions.forEach(session ->
                    byLock.put(session.target().token().lock(), session.target().token()));
            return Blockers.names(connection, Tokens.of(byLock.values()));
        } catch (SQLException unanswered) {
            return "a transaction that could not be looked up (" + SqlFailure.text(unanswered) + ")";
        }
    }
}
