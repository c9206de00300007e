package dev.fenceline.jdbc;

import java.lang.reflect.InvocationHandler;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Optional;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/**
 * Lends the connections of a server to its clients for one transaction at a time, as PgBouncer does in transaction mode: what one
 * client leaves in a session, the next one finds. A client's transactions take turns on all connections, so two in a row are never
 * on the same one if there are two.
 */
final class TransactionPooling implements AutoCloseable {

    private final Deque<Connection> idle = new ArrayDeque<>();

    TransactionPooling(DataSource server, int connections) throws SQLException {
        for (int i = 0; i < connections; i++) {
            idle.add(server.getConnection());
        }
    }

    /** Hands out a client's connection, which is none of the server's. */
    DataSource source() {
        return proxy(DataSource.class, (proxy, method, arguments) -> client());
    }

    Connection client() {
        return proxy(Connection.class, new Client());
    }

    /** What a client that has no transaction is answered from. */
    private Connection next() {
        Connection next = idle.peekFirst();
        if (next == null) {
            throw new IllegalStateException("All connections are lent; a test is to have more of them");
        }
        return next;
    }

    private static <T> T proxy(Class<T> type, InvocationHandler handler) {
        return type.cast(
                Proxy.newProxyInstance(TransactionPooling.class.getClassLoader(), new Class<?>[] {type}, handler));
    }

    private static @Nullable Object forward(Object target, Method method, Object @Nullable [] arguments)
            throws Throwable {
        try {
            return method.invoke(target, arguments);
        } catch (InvocationTargetException e) {
            throw e.getTargetException();
        }
    }

    private final class Client implements InvocationHandler {

        private Optional<Connection> lent = Optional.empty();
        private boolean autoCommit = true;

        @Override
        public @Nullable Object invoke(Object proxy, Method method, Object @Nullable [] arguments) throws Throwable {
            switch (method.getName()) {
                case "setAutoCommit" -> {
                    boolean wanted = (Boolean) arguments[0];
                    if (wanted != autoCommit && wanted) {
                        end(Connection::commit);
                    }
                    autoCommit = wanted;
                    return null;
                }
                case "getAutoCommit" -> {
                    return autoCommit;
                }
                case "commit" -> {
                    end(Connection::commit);
                    return null;
                }
                case "close" -> {
                    end(Connection::rollback);
                    return null;
                }
                case "isClosed" -> {
                    return false;
                }
                default -> {
                    if (method.getName().equals("rollback") && arguments == null) {
                        end(Connection::rollback);
                        return null;
                    }
                    boolean begins = Statement.class.isAssignableFrom(method.getReturnType())
                            || method.getName().equals("setSavepoint");
                    Object result = forward(
                            begins ? borrow() : lent.orElseGet(TransactionPooling.this::next), method, arguments);
                    return result instanceof Statement statement && autoCommit
                            ? untilClosed(method.getReturnType(), statement)
                            : result;
                }
            }
        }

        private Connection borrow() throws SQLException {
            if (lent.isEmpty()) {
                Connection next = next();
                idle.removeFirst();
                next.setAutoCommit(autoCommit);
                lent = Optional.of(next);
            }
            return lent.get();
        }

        private interface Ending {
            void of(Connection connection) throws SQLException;
        }

        private void end(Ending ending) throws SQLException {
            if (lent.isEmpty()) {
                return;
            }
            Connection connection = lent.get();
            lent = Optional.empty();
            idle.addLast(connection);
            if (!connection.getAutoCommit()) {
                ending.of(connection);
                connection.setAutoCommit(true);
            }
        }

        /** In auto-commit a statement is a transaction, and the connection goes back with it. */
        private Object untilClosed(Class<?> type, Statement statement) {
            return proxy(type, (proxy, method, arguments) -> {
                Object result = forward(statement, method, arguments);
                if (method.getName().equals("close")) {
                    end(connection -> {});
                }
                return result;
            });
        }
    }

    @Override
    public void close() throws SQLException {
        for (Connection connection : idle) {
            connection.close();
        }
    }
}
