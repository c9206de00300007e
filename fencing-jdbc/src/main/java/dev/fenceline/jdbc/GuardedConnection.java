package dev.fenceline.jdbc;

import java.lang.reflect.InvocationHandler;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.sql.CallableStatement;
import java.sql.Connection;
import java.sql.DatabaseMetaData;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Savepoint;
import java.sql.Statement;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * The connection that work gets: it refuses to end the transaction, and reports each failure to its {@link TransactionGuard}.
 * So do the statements, results and metadata that come from it, since each of them leads back to a connection.
 *
 * <p>{@code unwrap} gives the driver's object, for COPY and the like. A commit through it is found by the last check before
 * COMMIT, only later and with a poorer message. Not found is who rolls back through it, commits something else, and then fails.
 */
final class GuardedConnection implements InvocationHandler {

    private final Object target;
    private final Conduct conduct;
    private final @Nullable Connection connection;
    private final @Nullable Object origin;
    private final @Nullable String preparedSql;

    private GuardedConnection(
            Object target,
            Conduct conduct,
            @Nullable Connection connection,
            @Nullable Object origin,
            @Nullable String preparedSql) {
        this.target = target;
        this.conduct = conduct;
        this.connection = connection;
        this.origin = origin;
        this.preparedSql = preparedSql;
    }

    /** Tells whether a connection, through whatever else is around it, is watched over by this guard. */
    static boolean isGuardedBy(Connection connection, TransactionGuard guard) {
        try {
            return connection.unwrap(TransactionGuard.class) == guard;
        } catch (SQLException unguarded) {
            return false;
        }
    }

    /** Tells whether a guard remembers what fails on this very connection. */
    static boolean isGuarded(Connection connection) {
        return Proxy.isProxyClass(connection.getClass())
                && Proxy.getInvocationHandler(connection) instanceof GuardedConnection;
    }

    static Connection around(Connection raw, TransactionGuard guard) {
        guard.watch(raw);
        return around(raw, new OneTransaction(guard));
    }

    static Connection around(Connection raw, Conduct conduct) {
        return proxy(Connection.class, new GuardedConnection(raw, conduct, null, null, null));
    }

    @Override
    public @Nullable Object invoke(Object proxy, Method method, Object @Nullable [] args) throws Throwable {
        Object[] arguments = args == null ? new Object[0] : args;
        if (method.getDeclaringClass() == Object.class) {
            return switch (method.getName()) {
                case "equals" -> proxy == arguments[0];
                case "hashCode" -> System.identityHashCode(proxy);
                default -> "fenced " + target;
            };
        }
        if (method.getName().equals("unwrap") && arguments[0] == TransactionGuard.class) {
            return conduct.guard();
        }
        String sql = sqlOf(method, arguments);
        return conduct.run(new JdbcCall(
                proxy, target, method, Arrays.asList(arguments), sql, () -> proceed(proxy, method, arguments, sql)));
    }

    private @Nullable Object proceed(Object proxy, Method method, Object[] arguments, @Nullable String sql)
            throws Throwable {
        TransactionGuard guard = conduct.guard();
        if (sql != null) {
            guard.check(sql);
        }
        guard.before(Sending.by(target, method, sql));
        if (guard.hasEnded()) {
            // The fence went first and refused, and another thread's swallowing does not bring the transaction back.
            throw guard.afterEnd();
        }
        Object result = call(guard, method, arguments);
        note(guard, method, arguments, sql, result);
        return result == null ? null : guarded(guard, proxy, method, sql, result);
    }

    private @Nullable String sqlOf(Method method, Object[] arguments) {
        String name = method.getName();
        boolean runs = name.startsWith("execute");
        if (arguments.length > 0
                && arguments[0] instanceof String sql
                && (runs || name.startsWith("prepare") || name.equals("addBatch"))) {
            return sql;
        }
        return runs ? preparedSql : null;
    }

    private @Nullable Object call(TransactionGuard guard, Method method, Object[] arguments) throws Throwable {
        try {
            if (target instanceof Connection plain) {
                guard.beforeChange(method.getName(), plain);
                if (guard.held().isPresent()
                        && guard.isActive()
                        && method.getName().equals("prepareStatement")) {
                    return guard.held().get().prepared(plain, String.valueOf(arguments[0]));
                }
            }
            return method.invoke(target, arguments);
        } catch (InvocationTargetException e) {
            Throwable cause = e.getTargetException();
            if (cause instanceof SQLException sql) {
                guard.failed(sql, Sending.by(target, method, preparedSql));
            }
            throw cause;
        }
    }

    private void note(
            TransactionGuard guard, Method method, Object[] arguments, @Nullable String sql, @Nullable Object result) {
        if (sql != null && method.getName().startsWith("execute")) {
            guard.executed(sql);
        } else if (result instanceof Savepoint savepoint) {
            guard.savepointSet(savepoint, arguments.length > 0 ? String.valueOf(arguments[0]) : null);
        } else if (method.getName().equals("rollback") && arguments.length > 0) {
            guard.rolledBackTo((Savepoint) arguments[0]);
        }
    }

    private Object guarded(TransactionGuard guard, Object proxy, Method method, @Nullable String sql, Object result) {
        Connection root = connection == null && proxy instanceof Connection self ? self : connection;
        if (method.getName().equals("unwrap")) {
            guard.unwrapped();
            return result;
        }
        if (result instanceof Connection) {
            return root == null ? result : root;
        }
        if (result instanceof Statement && origin instanceof Statement) {
            return origin;
        }
        Class<?> type = typeOf(result);
        return type == null ? result : proxy(type, new GuardedConnection(result, conduct, root, proxy, sql));
    }

    /** The interface under which something that came from a connection is watched over; null for what leads nowhere. */
    static @Nullable Class<?> typeOf(Object result) {
        if (result instanceof CallableStatement) {
            return CallableStatement.class;
        }
        if (result instanceof PreparedStatement) {
            return PreparedStatement.class;
        }
        if (result instanceof Statement) {
            return Statement.class;
        }
        if (result instanceof ResultSet) {
            return ResultSet.class;
        }
        return result instanceof DatabaseMetaData ? DatabaseMetaData.class : null;
    }

    private static <P> P proxy(Class<P> type, GuardedConnection handler) {
        return type.cast(
                Proxy.newProxyInstance(GuardedConnection.class.getClassLoader(), new Class<?>[] {type}, handler));
    }
}
