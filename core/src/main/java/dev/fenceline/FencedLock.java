package dev.fenceline;

/**
 * The lock for work that must not happen twice: each grant carries a token, and a fence refuses writes under an overtaken
 * one.
 *
 * <p><b>Guarantees:</b> no two grants of a name share value and holder; a grant that completed before another began has the
 * smaller value, within the assumptions of {@code docs/guarantees.md}.
 *
 * <p><b>Not guaranteed:</b> that the lease still runs when an acquiring method returns. Only a fence can tell.
 */
public interface FencedLock extends DistributedLock<FencedLease> {

    /**
     * Has the next grants of this lock, in this process, pass a mark that refused us. Called by fences after a refused claim,
     * for instance when a lock server was restored from a backup; never a reason to go on with the refused token.
     *
     * @param mark what the resource has admitted
     * @throws TokenRejectedException when the mark belongs to another lock
     */
    void raiseFloor(FencingToken mark);
}
