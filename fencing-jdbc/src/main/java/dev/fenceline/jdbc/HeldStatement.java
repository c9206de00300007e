package dev.fenceline.jdbc;

import dev.fenceline.FencingToken;
import java.io.InputStream;
import java.io.Reader;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.SQLFeatureNotSupportedException;
import java.time.Duration;
import java.time.OffsetDateTime;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * One statement of the user's, made into one that holds the marks by itself.
 *
 * <p>Both must be one statement: of two in a string, in simple query mode, the second has been committed when the caller is told that the
 * first was refused. So the user's becomes a CTE beside another that holds the marks; where those are not held, an error
 * undoes what this one did. The main query asks for the marks first, and only then for the rows.
 *
 * <p>Its snapshot is older than any waiting for a mark, so it is refused with 40001 if a mark was written meanwhile, and is then simply
 * executed again: nothing has happened.
 */
final class HeldStatement {

    private static final int MAX_CONFLICTS = 20;

    // Text that is ours, around that of the user. What is ours names everything in full, operators and types too: the
    // session's path is not ours.
    // One lock: its mark is written as it is, in the version that this statement sees. The limits are set by a subquery
    // that depends on no row, and so before one is waited for. The line break ends a comment that the user's text may
    // end with.
    private static final String HOLD_ONE = """
            fenceline_token AS MATERIALIZED
             (SELECT CAST(? AS pg_catalog.text) AS lock, CAST(? AS bigint) AS token, CAST(? AS pg_catalog.uuid) AS holder),
            fenceline_held AS MATERIALIZED
             (UPDATE fenceline.holding_v1 AS g SET claimed_at = g.claimed_at
               WHERE g.lock OPERATOR(pg_catalog.=) CAST(? AS pg_catalog.text) AND g.token OPERATOR(pg_catalog.=) CAST(? AS bigint)
                 AND g.holder OPERATOR(pg_catalog.=) CAST(? AS pg_catalog.uuid)
                 AND g.version OPERATOR(pg_catalog.=)
                     (SELECT s.version FROM fenceline.holding_v1 AS s WHERE s.lock OPERATOR(pg_catalog.=) CAST(? AS pg_catalog.text))
                 AND (SELECT fenceline.limit_statement_v1(?, ?))
              RETURNING fenceline.note_held_v1(g.lock))""";

    private static final String HOLD_SEVERAL = "fenceline_held AS MATERIALIZED"
            + " (SELECT held_at FROM fenceline.hold_v1(?, ?, ?, ?, ?, fenceline.seen_v1(?)))";
    private static final String HOLD_CONCURRENT =
            "fenceline_held AS MATERIALIZED" + " (SELECT held_at FROM fenceline.hold_concurrent_v1(?, ?, ?, ?, ?))";
    private static final String ROWS = ", fenceline_rows AS (";
    private static final String END_OF_ROWS = "\nRETURNING 1)";
    private static final String SELECT_IF_HELD = " SELECT CASE WHEN EXISTS (SELECT 1 FROM fenceline_held) THEN ";
    private static final String COUNT = "(SELECT pg_catalog.count(*) FROM fenceline_rows)";
    private static final String REFUSE_ONE =
            " ELSE (SELECT fenceline.refuse_held_v1(t.lock, t.token, t.holder) FROM fenceline_token t)";

    private static final String OPERATION = "fenceline_operation AS MATERIALIZED"
            + " (SELECT CAST(? AS pg_catalog.uuid) AS id, CAST(? AS pg_catalog.timestamptz) AS since), ";
    private static final String RECORD = ", fenceline_recorded AS MATERIALIZED"
            + " (SELECT 1 FROM fenceline_operation o, LATERAL fenceline.record_v1(o.id, o.since, " + COUNT + "))";
    private static final String COUNT_IF_RECORDED =
            "CASE WHEN EXISTS (SELECT 1 FROM fenceline_recorded) THEN " + COUNT + " END";

    /** How marks are held, by how many parameters that takes. */
    private enum Form {
        ONE(9),
        SEVERAL(6),
        CONCURRENT(5);

        private final int parameters;

        Form(int parameters) {
            this.parameters = parameters;
        }
    }

    /**
     * What the record of the operation says.
     *
     * @param id that of the operation
     * @param since a time of the server that the statement began after; the record is kept for 7 days from then
     */
    record Operation(UUID id, OffsetDateTime since) {}

    private final Tokens tokens;
    private final FenceSettings settings;
    private final Duration patience;
    private final Form form;
    private Optional<Operation> operation;
    private boolean renewed;
    private boolean repeatable = true;
    private long rows;
    private @Nullable OffsetDateTime heldAt;
    private @Nullable SQLException failure;

    HeldStatement(Tokens tokens, FenceSettings settings, Duration patience, Optional<Operation> operation) {
        this.tokens = tokens;
        this.settings = settings;
        this.patience = patience;
        this.operation = operation;
        Form exclusive = tokens.areSeveral() ? Form.SEVERAL : Form.ONE;
        this.form = settings.has(FenceSettings.Choice.CONCURRENT) ? Form.CONCURRENT : exclusive;
    }

    /** What the last execution threw; empty when it did not, or there was none. */
    Optional<SQLException> failure() {
        return Optional.ofNullable(failure);
    }

    /** When the marks were held, by the server's clock; empty when nobody needs to know. */
    Optional<OffsetDateTime> heldAt() {
        return Optional.ofNullable(heldAt);
    }

    long rows() {
        return rows;
    }

    Optional<Operation> operation() {
        return operation;
    }

    /** Executes a statement that has been checked, with the driver's own way of binding. */
    long execute(Connection connection, String sql, @Nullable Object... parameters) throws SQLException {
        try (PreparedStatement statement = prepare(connection, sql)) {
            for (int i = 0; i < parameters.length; i++) {
                statement.setObject(own() + i + 1, parameters[i]);
            }
            return execute(statement);
        }
    }

    /** Prepares for somebody who believes that there is only his own statement. */
    PreparedStatement prepared(Connection connection, String sql) throws SQLException {
        PreparedStatement statement = prepare(connection, DmlText.checked(sql));
        return (PreparedStatement) Proxy.newProxyInstance(
                HeldStatement.class.getClassLoader(), new Class<?>[] {PreparedStatement.class}, new Shifted(statement));
    }

    private PreparedStatement prepare(Connection connection, String dml) throws SQLException {
        PreparedStatement statement = connection.prepareStatement(text(dml));
        try {
            bindOperation(statement);
            bindHold(statement, operation.isPresent() ? 3 : 1);
            return statement;
        } catch (SQLException | RuntimeException e) {
            statement.close();
            throw e;
        }
    }

    private String text(String dml) {
        String hold = switch (form) {
            case ONE -> HOLD_ONE;
            case SEVERAL -> HOLD_SEVERAL;
            case CONCURRENT -> HOLD_CONCURRENT;
        };
        String otherwise = form == Form.ONE ? REFUSE_ONE : "";
        return operation.isPresent()
                ? "WITH " + OPERATION + hold + ROWS + dml + END_OF_ROWS + RECORD + SELECT_IF_HELD + COUNT_IF_RECORDED
                        + otherwise + " END, pg_catalog.clock_timestamp()"
                : "WITH " + hold + ROWS + dml + END_OF_ROWS + SELECT_IF_HELD + COUNT + otherwise + " END";
    }

    private void bindHold(PreparedStatement statement, int first) throws SQLException {
        int wait = GuardSql.millis(patience);
        int transaction = GuardSql.millis(settings.transactionTimeout());
        if (form == Form.ONE) {
            FencingToken token = tokens.all().get(0);
            bind(statement, first, token);
            bind(statement, first + 3, token);
            statement.setString(first + 6, token.lock().toString());
            statement.setInt(first + 7, wait);
            statement.setInt(first + 8, transaction);
            return;
        }
        GuardSql.bind(statement, first, tokens);
        statement.setInt(first + 3, wait);
        statement.setInt(first + 4, transaction);
        if (form == Form.SEVERAL) {
            statement.setArray(first + 5, statement.getConnection().createArrayOf("text", tokens.locks()));
        }
    }

    private static void bind(PreparedStatement statement, int first, FencingToken token) throws SQLException {
        statement.setString(first, token.lock().toString());
        statement.setLong(first + 1, token.value());
        statement.setObject(first + 2, token.holder());
    }

    /** How many parameters are ours. */
    private int own() {
        return form.parameters + (operation.isPresent() ? 2 : 0);
    }

    private void bindOperation(PreparedStatement statement) throws SQLException {
        if (operation.isPresent()) {
            statement.setObject(1, operation.get().id());
            statement.setObject(2, operation.get().since());
        }
    }

    private long execute(PreparedStatement statement) throws SQLException {
        failure = null;
        for (int conflicts = 0; ; conflicts++) {
            try (ResultSet row = statement.executeQuery()) {
                row.next();
                rows = row.getLong(1);
                if (operation.isPresent()) {
                    heldAt = row.getObject(2, OffsetDateTime.class);
                }
                return rows;
            } catch (SQLException e) {
                if (!again(statement, e, conflicts)) {
                    failure = e;
                    throw e;
                }
            }
        }
    }

    private boolean again(PreparedStatement statement, SQLException e, int conflicts) throws SQLException {
        if (SqlFailure.isConnectionLost(e, statement.getConnection()) || conflicts == MAX_CONFLICTS) {
            return false;
        }
        if (SqlFailure.has(e, SqlFailure.TOO_LATE) && !renewed) {
            // The claim has heard nothing of the server for 7 days; from now on its record has a new beginning.
            renewed = true;
            OffsetDateTime now = GuardSql.clock(statement.getConnection());
            operation = operation.map(known -> new Operation(known.id(), now));
            bindOperation(statement);
            return repeatable;
        }
        return repeatable && SqlFailure.isRetryable(e) && !SqlFailure.isTimeout(e);
    }

    /** Counts the user's parameters behind ours, and answers as if there were only the user's statement. */
    private final class Shifted implements InvocationHandler {

        private static final Set<String> NOT_ONE_STATEMENT = Set.of(
                "executeQuery", "addBatch", "executeBatch", "executeLargeBatch", "getMetaData", "getParameterMetaData");

        private final PreparedStatement statement;

        Shifted(PreparedStatement statement) {
            this.statement = statement;
        }

        @Override
        public @Nullable Object invoke(Object proxy, Method method, Object @Nullable [] args) throws Throwable {
            String name = method.getName();
            if (NOT_ONE_STATEMENT.contains(name) || (name.startsWith("execute") && args != null)) {
                throw new SQLFeatureNotSupportedException(
                        name + "() is not there for one fenced statement, which counts rows");
            }
            return switch (name) {
                case "execute" -> {
                    HeldStatement.this.execute(statement);
                    yield false;
                }
                case "executeUpdate" -> (int) Math.min(Integer.MAX_VALUE, HeldStatement.this.execute(statement));
                case "executeLargeUpdate" -> HeldStatement.this.execute(statement);
                case "getUpdateCount" -> (int) Math.min(Integer.MAX_VALUE, rows);
                case "getLargeUpdateCount" -> rows;
                case "getResultSet" -> null;
                case "getMoreResults" -> false;
                default -> delegate(method, shifted(method, args));
            };
        }

        private Object @Nullable [] shifted(Method method, Object @Nullable [] args) {
            boolean binds = args != null
                    && args.length > 1
                    && method.getName().startsWith("set")
                    && method.getParameterTypes()[0] == int.class;
            if (args == null || !binds) {
                return args;
            }
            if (args[1] instanceof InputStream || args[1] instanceof Reader) {
                // Read up by the first execution.
                repeatable = false;
            }
            Object[] shifted = args.clone();
            shifted[0] = (Integer) args[0] + own();
            return shifted;
        }

        private @Nullable Object delegate(Method method, Object @Nullable [] args) throws Throwable {
            try {
                return method.invoke(statement, args);
            } catch (InvocationTargetException e) {
                throw e.getTargetException();
            }
        }
    }
}
