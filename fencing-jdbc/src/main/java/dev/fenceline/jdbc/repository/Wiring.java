package dev.fenceline.jdbc.repository;

import dev.fenceline.FencelineEvent.UnsafeSetting;
import dev.fenceline.UnfencedWriteException;
import dev.fenceline.jdbc.Claim;
import dev.fenceline.jdbc.PostgresFence;
import java.util.LinkedHashSet;
import java.util.Set;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Finds out whether a repository has its connections from the fence. One that has them from the pool beside it writes in units as it
 * does outside of them: unfenced, and nothing fails.
 *
 * <p>What is seen is that a unit took no connection. A call may have had nothing to do, so one alone is told, and two are refused, as long
 * as no unit took any. A unit that did proves the repository right, once and for all.
 */
final class Wiring {

    /** What one unit called. Of one thread. */
    private static final class Calls {
        private final Set<String> names = new LinkedHashSet<>();
        private int count;
        private boolean wrote;
    }

    private final String repository;
    private final PostgresFence fence;
    private final AtomicInteger inVain = new AtomicInteger();
    private final AtomicBoolean told = new AtomicBoolean();
    private volatile boolean proven;

    // One for each repository, and only while a unit of it is open.
    @SuppressWarnings("ThreadLocalUsage")
    private final ThreadLocal<@Nullable Calls> unit = new ThreadLocal<>();

    Wiring(Class<?> delegate, PostgresFence fence) {
        this.repository = delegate.getSimpleName();
        this.fence = fence;
    }

    /** Runs the body of a unit that was opened for it, and looks at what it took. */
    <T, X extends Exception> T watch(Claim<?> claim, Delegates.Body<T, X> body) throws X {
        if (proven) {
            return body.run();
        }
        Calls calls = new Calls();
        unit.set(calls);
        try {
            T result = body.run();
            judge(calls, claim);
            return result;
        } finally {
            unit.remove();
        }
    }

    /** A method of the repository has returned. */
    void called(String name, boolean writes) {
        Calls calls = unit.get();
        if (calls != null) {
            calls.names.add(name);
            calls.count++;
            calls.wrote |= writes;
        }
    }

    /** The work of a class has returned; it may have called nothing, so that it is told and never refused. */
    void returned() {
        Calls calls = unit.get();
        if (calls != null) {
            calls.names.add("its work");
            calls.wrote = true;
        }
    }

    private static String locks(Claim<?> claim) {
        return claim.tokens().stream().map(token -> "'" + token.lock() + "'").collect(Collectors.joining(", "));
    }

    private void judge(Calls calls, Claim<?> claim) {
        if (claim.connections() > 0) {
            proven = true;
        } else if (calls.wrote && inVain.addAndGet(calls.count) > 1) {
            throw new UnfencedWriteException(
                    "Unit of " + locks(claim) + " refused at its end: " + String.join(", ", calls.names)
                            + " took no connection of fence.dataSource(), and neither did any unit of this "
                            + repository
                            + " before. What was written in it was written without the fence, and stays. Build the "
                            + repository
                            + " on fence.dataSource(), and not on the data source that the fence was made of.",
                    null);
        } else if (calls.wrote && told.compareAndSet(false, true)) {
            fence.listener()
                    .tell(new UnsafeSetting(
                            "FencedRepository over " + repository,
                            "perhaps a data source that is not the fence's",
                            String.join(", ", calls.names)
                                    + " took no connection of fence.dataSource(). If there was nothing to"
                                    + " write, all is well; else it was written without the fence: build the "
                                    + repository
                                    + " on fence.dataSource()"));
        }
    }
}
