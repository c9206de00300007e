package dev.fenceline.lock;

import io.lettuce.core.KeyScanArgs;
import io.lettuce.core.KeyScanCursor;
import io.lettuce.core.ScanCursor;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashSet;
import java.util.Iterator;
import java.util.List;
import java.util.NoSuchElementException;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/**
 * The locks that are taken, page by page and server by server: SCAN goes through a server in small steps, between which others
 * have their turn. A cursor belongs to one process, so each server is gone through on one connection, or the listing fails.
 */
final class LockListing implements Iterator<LockState> {

    /** Steps of about a millisecond for the server. */
    private static final int KEYS_LOOKED_AT = 500;

    /** Asked for at once, in one round trip: few enough for a machine under load to answer in time. */
    private static final int MOST_TOGETHER = 100;

    private static final String WHAT = "Locks not listed: ";

    private final Looking looking;
    private final KeySpace keys;
    private final KeyScanArgs which;
    private final Deque<ServerConnection> servers;

    /** SCAN may name a key twice, and a slot that moves is met at both of its masters. */
    private final Set<LockKey> met = new HashSet<>();

    private final Deque<LockState> page = new ArrayDeque<>();
    private @Nullable Link link;
    private @Nullable ScanCursor cursor;
    private int together;

    LockListing(Looking looking, KeySpace keys, LockFilter filter, List<ServerConnection> servers) {
        this.looking = looking;
        this.keys = keys;
        this.which = new KeyScanArgs();
        which.type("string").match(keys.pattern(filter)).limit(KEYS_LOOKED_AT);
        this.servers = new ArrayDeque<>(servers);
    }

    @Override
    public boolean hasNext() {
        while (page.isEmpty()) {
            if (cursor == null) {
                ServerConnection next = servers.poll();
                if (next == null) {
                    return false;
                }
                link = looking.begin(next);
                cursor = ScanCursor.INITIAL;
                // The first one alone: it makes the script known there.
                together = 1;
            }
            turnPage();
        }
        return true;
    }

    @Override
    public LockState next() {
        if (!hasNext()) {
            throw new NoSuchElementException("There are no more locks.");
        }
        return page.remove();
    }

    private void turnPage() {
        Link from = Objects.requireNonNull(link);
        KeyScanCursor<String> answer = looking.await(WHAT, from.scan(Objects.requireNonNull(cursor), which));
        List<LockKey> locks = answer.getKeys().stream()
                .flatMap(key -> keys.lockOf(key).stream())
                .filter(met::add)
                .toList();
        int next = 0;
        while (next < locks.size()) {
            int end = Math.min(next + together, locks.size());
            look(locks.subList(next, end));
            next = end;
            together = MOST_TOGETHER;
        }
        cursor = answer.isFinished() ? null : answer;
    }

    private void look(List<LockKey> locks) {
        List<CompletableFuture<Optional<LockState>>> asked =
                locks.stream().map(looking::ask).toList();
        for (CompletableFuture<Optional<LockState>> state : asked) {
            looking.await(WHAT, state).ifPresent(page::add);
        }
    }
}
