package dev.fenceline.jdbc;

import dev.fenceline.FencelineEvent.UnsafeSetting;
import dev.fenceline.FencelineListener;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.Collections;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.WeakHashMap;

/**
 * Settings of a database that weaken what a fence promises. Each listener hears once in the life of the process of each database, however
 * many fences, and copies of fences, there are on it: a setting is no news.
 */
final class UnsafeSettings {

    // Weak, since a listener is the user's and may be made for each fence.
    private static final Map<FencelineListener, Set<String>> TOLD = Collections.synchronizedMap(new WeakHashMap<>());

    private UnsafeSettings() {}

    static void tellOnce(FencelineListener listener, Connection connection, String fsync) throws SQLException {
        if (!fsync.equals("off")) {
            return;
        }
        String url = connection.getMetaData().getURL();
        int parameters = url.indexOf('?');
        String database = parameters < 0 ? url : url.substring(0, parameters);
        if (TOLD.computeIfAbsent(listener, unheard -> Collections.synchronizedSet(new HashSet<>()))
                .add(database)) {
            listener.tell(new UnsafeSetting(
                    "PostgreSQL at " + database,
                    "fsync = off",
                    "a crash of its machine can lose marks and corrupt data; for throw-away databases only"));
        }
    }
}
