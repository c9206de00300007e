package dev.fenceline;

/**
 * The lock for work that may happen twice, but should rarely: a nightly report, a cache refill. Its leases have no token and
 * no fence accepts them, so nothing that must be right can rest on it by mistake.
 *
 * <p>{@code efficiency("report")} and {@code fenced("report")} are two different locks.
 */
public interface EfficiencyLock extends DistributedLock<Lease> {}
