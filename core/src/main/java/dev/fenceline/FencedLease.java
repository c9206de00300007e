package dev.fenceline;

/**
 * A lease with a fencing token, for work that must not happen twice: pass it to a fence.
 *
 * <p><b>Guarantees:</b> the token differs from the token of every other grant of this lock.
 */
public interface FencedLease extends Lease {

    /**
     * Returns the token of this grant. Never throws: a fence, not the lease, decides whether the token is still good.
     *
     * @return the same token at every call
     */
    FencingToken token();
}
