package dev.fenceline.jdbc;

import dev.fenceline.UnfencedWriteException;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.Statement;
import java.util.Optional;
import java.util.Set;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** A connection that was taken outside of units: as it is, but refused to a thread that is in one, where it would write unfenced. */
final class PassedConnection {

    private static final Set<String> GIVING_BACK = Set.of("close", "isClosed", "rollback", "abort", "cancel");

    private final Object origin;
    private final Consumer<PassedConnection> onClose;
    private final Connection shown;

    PassedConnection(Object origin, Connection opened, Consumer<PassedConnection> onClose) {
        this.origin = origin;
        this.onClose = onClose;
        this.shown = (Connection) around(Connection.class, opened, null, null);
    }

    /** What the work gets. */
    Connection shown() {
        return shown;
    }

    private Object around(Class<?> type, Object target, @Nullable Object parent, @Nullable String preparedSql) {
        return Proxy.newProxyInstance(
                PassedConnection.class.getClassLoader(),
                new Class<?>[] {type},
                new Passing(target, parent, preparedSql));
    }

    /** Its statements, results and metadata lead to the server as well. */
    private final class Passing implements InvocationHandler {

        private final Object target;
        private final @Nullable Object parent;
        private final @Nullable String preparedSql;

        Passing(Object target, @Nullable Object parent, @Nullable String preparedSql) {
            this.target = target;
            this.parent = parent;
            this.preparedSql = preparedSql;
        }

        @Override
        public @Nullable Object invoke(Object proxy, Method method, Object @Nullable [] args) throws Throwable {
            if (method.getDeclaringClass() == Object.class) {
                return switch (method.getName()) {
                    case "equals" -> args != null && proxy == args[0];
                    case "hashCode" -> System.identityHashCode(proxy);
                    default -> "passed " + target;
                };
            }
            requireOutside(method);
            Object result;
            try {
                result = method.invoke(target, args);
            } catch (InvocationTargetException e) {
                throw e.getTargetException();
            } finally {
                if (target instanceof Connection && method.getName().equals("close")) {
                    onClose.accept(PassedConnection.this);
                }
            }
            return result == null ? null : passed(proxy, method, args, result);
        }

        private void requireOutside(Method method) {
            Optional<OpenUnit<?>> unit = OpenUnits.over(origin);
            boolean isInside = unit.isPresent() || OpenWork.isAround(origin);
            if (!isInside || isHarmless(method)) {
                return;
            }
            if (unit.isEmpty()) {
                OpenWork.requireNone(origin, method.getName() + "() on a connection of fence.dataSource()");
                return;
            }
            throw new UnfencedWriteException(
                    method.getName() + "() in a unit on " + unit.get().tokens().resource()
                            + " refused: the connection was taken outside of it, and nothing would be fenced that it"
                            + " reads or writes. Nothing was sent. Take a connection inside of the unit, or open the"
                            + " unit before the session that keeps this one (a new EntityManager for each unit).",
                    null);
        }

        private boolean isHarmless(Method method) {
            return GIVING_BACK.contains(method.getName()) || Sending.by(target, method, preparedSql) == Sending.NOTHING;
        }

        private Object passed(Object proxy, Method method, Object @Nullable [] args, Object result) {
            if (method.getName().equals("unwrap")) {
                return result;
            }
            if (result instanceof Connection) {
                return shown;
            }
            if (result instanceof Statement && parent instanceof Statement) {
                return parent;
            }
            Class<?> type = GuardedConnection.typeOf(result);
            String sql = args != null && args.length > 0 && args[0] instanceof String text ? text : null;
            return type == null ? result : around(type, result, proxy, sql);
        }
    }
}
