package dev.fenceline;

import java.time.Duration;
import java.util.Optional;

/**
 * Something that happened to a lock or a fence. Metrics tag events with {@link LockName#lockClass()}, never with the whole
 * name, which has no bound.
 */
public sealed interface FencelineEvent {

    /** How an attempt to acquire ended. */
    enum AcquireOutcome {
        /** A lease was granted. */
        ACQUIRED,
        /** Somebody else held the lock all the time. */
        NOT_ACQUIRED,
        /** The waiting thread was interrupted, or its future was cancelled. */
        INTERRUPTED,
        /** The lock server could not be used. */
        FAILED
    }

    /** How a claim ended. */
    enum ClaimOutcome {
        /** The mark is ours. */
        ADMITTED,
        /** The mark was newer. */
        STALE,
        /** Blocked for longer than the claim timeout. */
        TIMED_OUT,
        /** The token was rejected, or the storage could not be used. */
        FAILED
    }

    /** How a fenced write ended. */
    enum WriteOutcome {
        /** Committed. */
        APPLIED,
        /** Refused: a newer holder has taken over. */
        STALE,
        /** Refused: the row that was to be written is not there. */
        MISSING,
        /** Rolled back after a lost race; to be run again. */
        RETRYABLE,
        /** Rolled back: the body failed, or the storage could not be used. */
        ROLLED_BACK,
        /** The answer to the commit was lost and asking did not settle it, or the work committed by itself. */
        UNKNOWN
    }

    /**
     * An attempt to acquire begins. One {@link AcquireEnded} follows: the difference of the two is how many wait.
     *
     * @param lock what is to be locked
     */
    record AcquireStarted(LockName lock) implements FencelineEvent {}

    /**
     * An attempt to acquire ended.
     *
     * @param lock what was to be locked
     * @param outcome how it ended
     * @param waited how long it took
     */
    record AcquireEnded(LockName lock, AcquireOutcome outcome, Duration waited) implements FencelineEvent {}

    /**
     * A lease was renewed.
     *
     * @param lock what is locked
     * @param margin what was left of the old lease
     */
    record LeaseRenewed(LockName lock, Duration margin) implements FencelineEvent {}

    /**
     * A lease was lost while its holder still wanted it.
     *
     * @param lock what was locked
     * @param reason how it was lost
     * @param held how long it had been held
     */
    record LeaseLost(LockName lock, LeaseLostException.Reason reason, Duration held) implements FencelineEvent {}

    /**
     * A lease was closed.
     *
     * @param lock what was locked
     * @param held how long
     * @param margin what was left of the lease; small margins warn of leases that are too short
     */
    record LeaseClosed(LockName lock, Duration held, Duration margin) implements FencelineEvent {}

    /**
     * A release did not reach the server; the lock becomes free when its lease time has passed.
     *
     * @param lock what stays locked
     * @param cause why
     */
    record ReleaseFailed(LockName lock, Throwable cause) implements FencelineEvent {}

    /**
     * A lock server could not be used, and the choice that was made for it takes effect now.
     *
     * @param lock what was to be locked
     * @param choice skips the work, or runs it without the lock
     * @param cause why the server could not be used
     */
    record OutageBypassed(LockName lock, WhenUnavailable choice, Throwable cause) implements FencelineEvent {}

    /**
     * A lock server restarted, was promoted or lost its data; tokens jump ahead of all that were issued before.
     *
     * @param server which
     * @param incarnation what it calls itself now
     */
    record IncarnationChanged(String server, String incarnation) implements FencelineEvent {}

    /**
     * A claim ended.
     *
     * @param resource where
     * @param token with which token
     * @param outcome how
     * @param took how long it took
     */
    record ClaimEnded(String resource, FencingToken token, ClaimOutcome outcome, Duration took)
            implements FencelineEvent {}

    /**
     * A fenced transaction or write ended.
     *
     * @param resource where
     * @param token under which token
     * @param outcome how
     * @param took how long it took
     */
    record WriteEnded(String resource, FencingToken token, WriteOutcome outcome, Duration took)
            implements FencelineEvent {}

    /**
     * The answer to a write did not say what became of it, so the storage was asked. Told before {@link WriteEnded}, and again when an
     * outcome that had stayed unknown is resolved.
     *
     * @param resource where
     * @param token under which token
     * @param rounds how often it was asked; none if there was no time left
     * @param verdict what was found out; empty if it is still unknown
     */
    record ReadBack(
            String resource, FencingToken token, int rounds, Optional<OutcomeUnknownException.Resolution> verdict)
            implements FencelineEvent {}

    /**
     * A session was refused as stale. Told once for each session, however often it tries.
     *
     * @param resource where
     * @param presented the refused token
     * @param newest what the resource has admitted
     */
    record StaleRefused(String resource, FencingToken presented, FencingToken newest) implements FencelineEvent {

        /**
         * Returns by how much the refused token is older.
         *
         * @return the stale age
         */
        public Duration staleBy() {
            return presented.olderThan(newest);
        }
    }

    /**
     * A session was ended by a claim that it had kept out for the whole claim timeout, as was chosen for this fence. What it had not
     * committed is rolled back.
     *
     * @param resource where
     * @param token the token that was claimed
     * @param pid the process id of the session at the storage
     * @param applicationName what the session called itself; empty if it did not
     */
    record BlockerEvicted(String resource, FencingToken token, int pid, String applicationName)
            implements FencelineEvent {}

    /**
     * A setting was found that weakens what the product promises, but does not break it here and now.
     *
     * @param resource of what
     * @param setting its name and value
     * @param consequence what can happen
     */
    record UnsafeSetting(String resource, String setting, String consequence) implements FencelineEvent {}
}
