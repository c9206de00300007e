package dev.fenceline.jdbc;

import java.sql.Connection;
import java.sql.SQLException;
import java.util.Optional;

/**
 * Where a fence has its connections from.
 *
 * @param <C> what work is given: a connection, or something that holds one
 */
interface ConnectionSource<C> {

    /**
     * Opens a session.
     *
     * @param guard watches over the connection that the session's context shows
     */
    Session<C> open(TransactionGuard guard) throws SQLException;

    /** Returns the guarded connection that work which is given this writes with. */
    Connection connection(C context);

    /** Returns the user's object that the connections come from. */
    Object origin();

    /** Returns the driver's exception if that, and not something of the user's own, is what escaped from the work. */
    Optional<SQLException> driverFailure(Throwable escaped);
}
