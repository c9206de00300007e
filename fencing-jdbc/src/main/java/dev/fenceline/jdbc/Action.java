package dev.fenceline.jdbc;

/**
 * What runs in a fenced transaction and gives no result.
 *
 * @param <C> what it works with: {@code java.sql.Connection}, or Jdbi's {@code Handle}
 * @param <X> what it may throw
 */
@FunctionalInterface
public interface Action<C, X extends Exception> {

    /**
     * Reads, computes and writes. Returning commits, throwing rolls back.
     *
     * @param context valid until this method ends; it refuses to commit or to roll back by itself
     * @throws X comes out of the transaction as it is
     */
    void with(C context) throws X;
}
