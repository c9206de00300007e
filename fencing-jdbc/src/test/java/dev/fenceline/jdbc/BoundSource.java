package dev.fenceline.jdbc;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.util.Map;
import javax.sql.DataSource;

/** Hands out one connection to everybody and ignores that it is closed, as data sources bound to a transaction do. */
record BoundSource(Connection connection) {

    DataSource source() {
        return source(Map.of());
    }

    /** As the connection of a driver that is not PostgreSQL's would be. */
    DataSource withoutUnwrapping() {
        return source(Map.of("isWrapperFor", false));
    }

    private DataSource source(Map<String, Object> answers) {
        Connection unclosed = proxy(Connection.class, (proxy, method, args) -> {
            if (method.getName().equals("close")) {
                return null;
            }
            if (answers.containsKey(method.getName())) {
                return answers.get(method.getName());
            }
            try {
                return method.invoke(connection, args);
            } catch (InvocationTargetException e) {
                throw e.getTargetException();
            }
        });
        return proxy(DataSource.class, (proxy, method, args) -> unclosed);
    }

    private static <T> T proxy(Class<T> type, java.lang.reflect.InvocationHandler handler) {
        return type.cast(Proxy.newProxyInstance(BoundSource.class.getClassLoader(), new Class<?>[] {type}, handler));
    }
}
