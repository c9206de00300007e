package dev.fenceline.jdbc;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import javax.sql.DataSource;

/** Hands out one connection to everybody and ignores that it is closed, as data sources bound to a transaction do. */
record BoundSource(Connection connection) {

    DataSource source() {
        Connection unclosed = proxy(Connection.class, (proxy, method, args) -> {
            if (method.getName().equals("close")) {
                return null;
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
