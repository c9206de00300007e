package dev.fenceline.jdbc;

/**
 * A unit that is open on a thread.
 *
 * @param <C> what its work is given
 */
abstract class OpenUnit<C> {

    private final Object origin;
    private final Claim<?> claim;

    /**
     * Describes it.
     *
     * @param origin the user's object that the connections come from, which is of one kind of fence only
     * @param claim under which everything in it is written
     */
    OpenUnit(Object origin, Claim<?> claim) {
        this.origin = origin;
        this.claim = claim;
    }

    final Object origin() {
        return origin;
    }

    final Tokens tokens() {
        return claim.presented();
    }

    /** What its work is given, and that of the units that join it. */
    abstract C context();
}
