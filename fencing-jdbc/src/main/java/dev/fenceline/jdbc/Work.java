package dev.fenceline.jdbc;

/**
 * What runs in a fenced transaction and gives a result.
 *
 * @param <C> what it works with: {@code java.sql.Connection}, or Jdbi's {@code Handle}
 * @param <T> its result
 * @param <X> what it may throw
 */
@FunctionalInterface
public interface Work<C, T, X extends Exception> {

    /**
     * Reads, computes and writes. Returning commits, throwing rolls back.
     *
     * @param context valid until this method ends; it refuses to commit or to roll back by itself
     * @return the result of the transaction
     * @throws X comes out of the transaction as it is
     */
    T with(C context) throws X;
}
