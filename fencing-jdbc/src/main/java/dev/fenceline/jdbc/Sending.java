package dev.fenceline.jdbc;

import java.lang.reflect.Method;
import java.sql.Connection;
import java.sql.DatabaseMetaData;
import java.sql.ResultSet;
import java.sql.Statement;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * What a call on a connection, or on something that came from it, may send to the server. Whatever is not known to be harmless counts as
 * a statement.
 */
enum Sending {
    /** Nothing, or nothing that belongs to the transaction. */
    NOTHING,
    /** A SET or SHOW, which reads no data and takes no snapshot: isolation and read-only can still be chosen after it. */
    SETTING,
    /** Anything else, a savepoint and the driver's own questions too. */
    STATEMENT;

    private static final Set<String> OF_CONNECTION_LOCAL = Set.of(
            "createStatement",
            "prepareStatement",
            "prepareCall",
            "nativeSQL",
            "getAutoCommit",
            "isClosed",
            "setReadOnly",
            "isReadOnly",
            // The driver sends these outside of the transaction, and refuses the first of them inside of one.
            "setTransactionIsolation",
            "getTransactionIsolation",
            "getMetaData",
            "getWarnings",
            "clearWarnings",
            "getTypeMap",
            "setTypeMap",
            "setHoldability",
            "getHoldability",
            "getClientInfo",
            "getCatalog",
            "setCatalog",
            "setNetworkTimeout",
            "getNetworkTimeout");
    private static final Set<String> OF_CONNECTION_SETTING = Set.of("setSchema", "setClientInfo");
    private static final List<String> OF_METADATA_LOCAL =
            List.of("getConnection", "getDriver", "getDatabase", "getJDBC", "getURL", "getUserName", "supports");

    // The last two make a large object.
    private static final Set<String> OF_STATEMENT_ASKING =
            Set.of("getMetaData", "getParameterMetaData", "setBlob", "setClob");
    private static final Set<String> OF_RESULT_WRITING = Set.of("updateRow", "insertRow", "deleteRow", "refreshRow");

    static Sending by(Object target, Method method, @Nullable String sql) {
        String name = method.getName();
        if (name.equals("isWrapperFor")) {
            return NOTHING;
        }
        if (name.equals("unwrap")) {
            // What is done with the driver's own object is not seen here any more.
            return STATEMENT;
        }
        if (target instanceof Connection) {
            if (OF_CONNECTION_LOCAL.contains(name)) {
                return NOTHING;
            }
            return OF_CONNECTION_SETTING.contains(name) ? SETTING : STATEMENT;
        }
        if (target instanceof Statement) {
            return byStatement(name, sql);
        }
        if (target instanceof ResultSet && OF_RESULT_WRITING.contains(name)) {
            return STATEMENT;
        }
        boolean asks =
                target instanceof DatabaseMetaData && OF_METADATA_LOCAL.stream().noneMatch(name::startsWith);
        return asks ? STATEMENT : NOTHING;
    }

    private static Sending byStatement(String name, @Nullable String sql) {
        if (name.startsWith("execute")) {
            return sql != null && TransactionControl.isSetting(sql) ? SETTING : STATEMENT;
        }
        return OF_STATEMENT_ASKING.contains(name) ? STATEMENT : NOTHING;
    }
}
