package dev.fenceline.examples.pausedwriter;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.util.List;

/**
 * The one statement in which the runs differ, with its values, so that a refused one can be shown.
 *
 * @param sql with question marks
 * @param values in their order; numbers, and text that is safe to show between quotes
 */
record BalanceUpdate(String sql, List<Object> values) {

    private static final String UNCHECKED = Resources.sql("update-unchecked.sql");
    private static final String NOT_LOWER = Resources.sql("update-not-lower.sql");

    BalanceUpdate {
        values = List.copyOf(values);
    }

    static BalanceUpdate of(Job job, long token, long balance) {
        return job.mode() == Mode.NOT_LOWER
                ? new BalanceUpdate(NOT_LOWER, List.of(balance, token, job.account(), token))
                // With Fenceline it is any SQL: the check stands before it, not in it.
                : new BalanceUpdate(UNCHECKED, List.of(balance, job.account()));
    }

    PreparedStatement prepared(Connection connection) throws SQLException {
        PreparedStatement statement = connection.prepareStatement(sql);
        for (int i = 0; i < values.size(); i++) {
            statement.setObject(i + 1, values.get(i));
        }
        return statement;
    }

    String shown() {
        StringBuilder shown = new StringBuilder();
        int from = 0;
        for (Object value : values) {
            int mark = sql.indexOf('?', from);
            shown.append(sql, from, mark).append(value instanceof String text ? "'" + text + "'" : value.toString());
            from = mark + 1;
        }
        return shown.append(sql.substring(from)).toString();
    }
}
