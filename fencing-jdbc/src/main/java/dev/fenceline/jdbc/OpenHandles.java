package dev.fenceline.jdbc;

import dev.fenceline.LockName;
import dev.fenceline.UnfencedWriteException;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.jdbi.v3.core.Handle;
import org.jdbi.v3.core.HandleListener;
import org.jdbi.v3.core.Jdbi;
import org.jspecify.annotations.Nullable;

/**
 * The handles that each thread has opened outside of fences, and not closed yet. A unit that is opened while one of them is in a
 * transaction would work on what that has read before the claim.
 */
final class OpenHandles {

    // Closed by any thread, and so concurrent; null where a thread has none.
    private static final ThreadLocal<@Nullable List<Handle>> OPEN = new ThreadLocal<>();

    private OpenHandles() {}

    /**
     * Takes note of a handle.
     *
     * @throws UnfencedWriteException when this thread is in a unit over its Jdbi, where it would write unfenced
     */
    static void opened(Handle handle) {
        OpenUnits.over(handle.getJdbi()).ifPresent(unit -> {
            throw new UnfencedWriteException(
                    "A handle of Jdbi in a unit on " + unit.tokens().resource()
                            + " refused: what it reads and writes would be in no fenced transaction. Nothing was sent."
                            + " Use the handle that the unit was given, or fence.handle(), and attach to it instead of"
                            + " onDemand; or open the handle from a Jdbi of its own if it is to write beside the"
                            + " unit.",
                    null);
        });
        List<Handle> known = OPEN.get();
        if (known == null) {
            known = new CopyOnWriteArrayList<>();
            OPEN.set(known);
        }
        List<Handle> open = known;
        open.add(handle);
        handle.addHandleListener(new HandleListener() {
            @Override
            public void handleClosed(Handle closed) {
                open.remove(closed);
                if (open.isEmpty() && OPEN.get() == open) {
                    OPEN.remove();
                }
            }
        });
    }

    /**
     * Tells whether this thread has nothing in a transaction.
     *
     * @throws UnfencedWriteException when it has
     */
    static void requireNoTransaction(Jdbi jdbi, List<LockName> locks) {
        List<Handle> open = OPEN.get();
        if (open != null
                && open.stream()
                        .anyMatch(
                                handle -> handle.getJdbi() == jdbi && !handle.isClosed() && handle.isInTransaction())) {
            throw new UnfencedWriteException(
                    "Unit of " + OpenUnits.names(locks)
                            + " refused: this thread has a handle of the fence's Jdbi in a transaction already, and what that has"
                            + " read may be older than the claim. Nothing was acquired. Open the unit outside of the transaction,"
                            + " and use the handle that it gives.",
                    null);
        }
    }
}
