package dev.fenceline;

/**
 * Hears of everything that happens, for metrics, traces and logs.
 *
 * <p>What a caller did is told on the caller's thread, often while a lock is held: be quick there. What happens in the
 * background is told on a thread that is there for nothing else, in the order in which it happened: a listener that blocks
 * there costs no lease, but while 10,000 events wait for it further ones are left out. What it throws is given to the
 * thread's uncaught exception handler and changes nothing else.
 *
 * <p><b>Thread-safety:</b> called from many threads at once.
 */
@FunctionalInterface
public interface FencelineListener {

    /**
     * Hears of one event.
     *
     * @param event what happened; new kinds may be added in any release
     */
    void on(FencelineEvent event);

    /**
     * Hears nothing.
     *
     * @return a listener without effect
     */
    static FencelineListener none() {
        return event -> {};
    }

    /**
     * Adds a second listener.
     *
     * @param next hears after this one
     * @return both as one
     */
    default FencelineListener and(FencelineListener next) {
        return event -> {
            tell(event);
            next.tell(event);
        };
    }

    /**
     * Calls {@link #on} in a way that a faulty listener cannot harm the caller.
     *
     * @param event what happened
     */
    default void tell(FencelineEvent event) {
        try {
            on(event);
        } catch (RuntimeException e) {
            // A lock must not fail because a counter does. The handler is where the JVM reports what nobody caught.
            Thread thread = Thread.currentThread();
            thread.getUncaughtExceptionHandler().uncaughtException(thread, e);
        }
    }
}
