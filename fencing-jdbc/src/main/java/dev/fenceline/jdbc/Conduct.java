package dev.fenceline.jdbc;

import org.jspecify.annotations.Nullable;

/** Decides what becomes of the calls on a connection, and on what came from it. */
interface Conduct {

    /** Watches over the transaction that the next call belongs to. */
    TransactionGuard guard();

    /** Lets a call through, or answers in its place. */
    @Nullable Object run(JdbcCall call) throws Throwable;
}
