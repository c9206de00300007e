package dev.fenceline.jdbc.repository;

import dev.fenceline.LockName;
import dev.fenceline.Work;
import java.time.Duration;
import java.util.List;
import java.util.Optional;

/**
 * The user's repositories, and the units that they run in.
 *
 * @param <R> the repository's type
 */
interface Delegates<R> {

    /** What runs in a unit. */
    interface Body<T, X extends Exception> {
        T run() throws X;
    }

    /** Runs a body in a unit of these locks, or in the one of this thread that has them; what it throws comes out as it is. */
    <T, X extends Exception> T unit(List<LockName> locks, Optional<Duration> maxWait, Attempt attempt, Body<T, X> body)
            throws X, InterruptedException;

    /** Works with the delegate of the unit that this thread is in, or with one outside of units. */
    <T, X extends Exception> T use(Work<? super R, T, X> work) throws X;

    /** A method has returned; the name is for messages. */
    default void called(String name, boolean writes) {}

    /** The work of a unit has returned that had the delegate itself in its hands, so that nobody saw what it called. */
    default void returned() {}

    /** The locks of the unit that this thread is in; empty outside of units. */
    Optional<List<LockName>> open();

    /** The class of the delegates, as far as it is known before there is one. */
    Optional<Class<?>> type();

    /** What keeps them from being used at all. */
    default Optional<String> misfit() {
        return Optional.empty();
    }
}
