package dev.fenceline;

/**
 * What runs under a lock, or in a fenced transaction, and gives no result. Else as {@link Work}.
 *
 * @param <C> what it works with: a {@link Lease}; in a fenced transaction {@code java.sql.Connection}, or Jdbi's {@code Handle}
 * @param <X> what it may throw
 */
@FunctionalInterface
public interface Action<C, X extends Exception> {

    /**
     * Reads, computes and writes. In a fenced transaction returning commits, and throwing rolls back.
     *
     * @param context good until this method ends, which releases the lease or ends the transaction; a fenced connection refuses to end
     *     its transaction by itself
     * @throws X comes out as it is
     */
    void with(C context) throws X;
}
