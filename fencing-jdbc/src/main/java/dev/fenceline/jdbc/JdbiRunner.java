package dev.fenceline.jdbc;

import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;
import org.jdbi.v3.core.Handle;
import org.jdbi.v3.core.JdbiException;
import org.jdbi.v3.core.argument.Argument;
import org.jdbi.v3.core.result.ResultIterable;
import org.jdbi.v3.core.statement.Query;
import org.jdbi.v3.core.statement.SqlStatement;
import org.jdbi.v3.core.statement.Update;
import org.jspecify.annotations.Nullable;

/** Sends statements through a handle of Jdbi: its binding, its mappers, its statement settings. */
final class JdbiRunner implements RowRunner<Handle> {

    @Override
    public RowStatement.Placeholder placeholder() {
        return RowStatement.Placeholder.NAME;
    }

    @Override
    public Connection connection(Handle handle) {
        return handle.getConnection();
    }

    @Override
    public long write(Handle handle, RowStatement statement) throws StatementFailed {
        if (statement.isCounting()) {
            return read(handle, statement, query -> query.mapTo(Long.class)).get(0);
        }
        try (Update update = handle.createUpdate(statement.sql())) {
            bind(update, statement);
            return update.execute();
        } catch (JdbiException e) {
            throw failed(e);
        }
    }

    static <R> Optional<R> read(
            Handle handle, RowStatement statement, RowTarget target, Function<Query, ResultIterable<R>> mapping)
            throws StatementFailed {
        List<R> rows = read(handle, statement, mapping);
        return rows.isEmpty() ? Optional.empty() : Optional.of(RowRefusals.made(rows.get(0), target));
    }

    private static <R> List<R> read(Handle handle, RowStatement statement, Function<Query, ResultIterable<R>> mapping)
            throws StatementFailed {
        try (Query query = handle.createQuery(statement.sql())) {
            bind(query, statement);
            return mapping.apply(query).list();
        } catch (JdbiException e) {
            throw failed(e);
        }
    }

    private static StatementFailed failed(JdbiException e) {
        if (e.getCause() instanceof SQLException said) {
            return new StatementFailed(e, said);
        }
        throw e;
    }

    private static void bind(SqlStatement<?> sql, RowStatement statement) {
        if (statement.values().orElse(null) instanceof JdbiRowValues values) {
            values.bindTo(sql);
        }
        List<@Nullable Object> arguments = statement.arguments();
        for (int i = 0; i < arguments.size(); i++) {
            Object argument = arguments.get(i);
            if (argument instanceof RowStatement.Values values) {
                Argument array = (place, prepared, context) ->
                        JdbcRunner.bind(prepared.getConnection(), prepared, place, values);
                sql.bind(RowStatement.name(i), array);
            } else {
                sql.bind(RowStatement.name(i), argument);
            }
        }
    }
}
