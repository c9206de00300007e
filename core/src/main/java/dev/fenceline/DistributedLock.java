package dev.fenceline;

/**
 * A lock shared by processes: one grant at a time, as far as timing allows. See {@link FencedLock} and
 * {@link EfficiencyLock} for the two kinds, and {@link Exclusion} for how it is taken.
 *
 * @param <L> the kind of lease
 */
public interface DistributedLock<L extends Lease> extends Exclusion<L> {

    /**
     * Returns what is locked.
     *
     * @return the name
     */
    LockName name();
}
