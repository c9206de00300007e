package dev.fenceline.jdbc;

import dev.fenceline.Work;

/**
 * How the units of a kind of fence are opened and joined.
 *
 * @param <C> what work is given
 */
interface UnitKind<C> {

    /** The user's object that the connections come from. */
    Object origin();

    /** Refuses to open a unit where a transaction of this thread has read something already; before a lock is acquired. */
    void requireNothingRead(Locking<?> locking);

    /** Claims, and runs work in a unit that this thread is in meanwhile. */
    <T, X extends Exception> T open(Locking.Held<?> held, Work<C, T, X> work) throws X;

    /** Runs work in the unit that this thread is in already. */
    <T, X extends Exception> T join(OpenUnit<C> open, Work<C, T, X> work) throws X;
}
