package dev.fenceline;

/**
 * What runs under a lock, or in a fenced transaction, and gives a result.
 *
 * @param <C> what it works with: a {@link Lease}; in a fenced transaction {@code java.sql.Connection}, or Jdbi's {@code Handle}
 * @param <T> its result, never null
 * @param <X> what it may throw
 */
@FunctionalInterface
public interface Work<C, T, X extends Exception> {

    /**
     * Reads, computes and writes. In a fenced transaction returning commits, and throwing rolls back.
     *
     * @param context good until this method ends, which releases the lease or ends the transaction; a fenced connection refuses to end
     *     its transaction by itself
     * @return the result
     * @throws X comes out as it is
     */
    T with(C context) throws X;
}
