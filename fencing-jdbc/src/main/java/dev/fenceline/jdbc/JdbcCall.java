package dev.fenceline.jdbc;

import java.lang.reflect.Method;
import java.sql.Connection;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A call on a connection, or on something that came from it.
 *
 * @param proxy what the work has
 * @param target what is behind it
 * @param method that of JDBC
 * @param arguments those of the method
 * @param sql the text that it sends or prepares, if it does
 * @param through hands it on to the target
 */
record JdbcCall(
        Object proxy,
        Object target,
        Method method,
        List<@Nullable Object> arguments,
        @Nullable String sql,
        Through through) {

    /** The rest of the way. */
    interface Through {
        @Nullable Object proceed() throws Throwable;
    }

    String name() {
        return method.getName();
    }

    boolean isOfConnection() {
        return target instanceof Connection;
    }

    Sending sending() {
        return Sending.by(target, method, sql);
    }

    @Nullable Object proceed() throws Throwable {
        return through.proceed();
    }
}
