package dev.fenceline.jdbc;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import org.jspecify.annotations.Nullable;

/** What work changes on its connection beyond the transaction, kept as it was, so that the connection is given back as it came. */
final class SessionChanges {

    private volatile @Nullable Boolean readOnly;
    private volatile @Nullable Integer isolation;
    private volatile @Nullable Integer holdability;
    private volatile @Nullable String searchPath;
    private volatile boolean settingSent;

    /** Keeps what a method of the connection is about to change. */
    void before(String method, Connection connection) throws SQLException {
        switch (method) {
            case "setReadOnly" -> readOnly = readOnly == null ? Boolean.valueOf(connection.isReadOnly()) : readOnly;
            case "setTransactionIsolation" ->
                isolation = isolation == null ? Integer.valueOf(connection.getTransactionIsolation()) : isolation;
            case "setHoldability" ->
                holdability = holdability == null ? Integer.valueOf(connection.getHoldability()) : holdability;
            case "setSchema" -> searchPath = searchPath == null ? searchPath(connection) : searchPath;
            default -> {
                // Changes nothing that outlives the transaction.
            }
        }
    }

    void settingSent() {
        settingSent = true;
    }

    /** Tells whether the work has made the session read-only itself, or may have, by text. */
    boolean mayBeReadOnly() {
        return settingSent || readOnly != null;
    }

    /** Tells whether the work has chosen an isolation for the session. */
    boolean haveIsolation() {
        return isolation != null;
    }

    /** Undoes it; to be called when no transaction is open. */
    void restore(Connection connection) throws SQLException {
        if (readOnly != null) {
            connection.setReadOnly(readOnly);
        }
        if (isolation != null) {
            connection.setTransactionIsolation(isolation);
        }
        if (holdability != null) {
            connection.setHoldability(holdability);
        }
        if (searchPath != null) {
            restoreSearchPath(connection, searchPath);
        }
    }

    /** SHOW takes no snapshot; a name alone would not do, since a path may have several. */
    private static String searchPath(Connection connection) throws SQLException {
        try (Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery("SHOW search_path")) {
            row.next();
            return row.getString(1);
        }
    }

    private static void restoreSearchPath(Connection connection, String path) throws SQLException {
        connection.setAutoCommit(true);
        try (PreparedStatement statement =
                connection.prepareStatement("SELECT pg_catalog.set_config('search_path', ?, false)")) {
            statement.setString(1, path);
            statement.execute();
        }
    }
}
