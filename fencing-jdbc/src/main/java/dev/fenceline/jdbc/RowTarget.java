package dev.fenceline.jdbc;

import dev.fenceline.FencingToken;
import java.util.List;

/**
 * A row, and the token under which it is to be read or written. The token's lock names the row in the guard.
 *
 * @param key one value for each column of the key
 * @param token whose right it is
 * @param resource the row's name in messages
 */
record RowTarget(List<Object> key, FencingToken token, String resource) {

    static <K> RowTarget of(FencedTable<K> table, K key, FencingToken token) {
        // A sender does not choose what it may write: the key does.
        token.requireLock(table.lock(key));
        return new RowTarget(table.parts(key), token, "PostgreSQL row '" + token.lock() + "' of " + table);
    }
}
