package dev.fenceline.migrations;

import java.time.Duration;
import java.util.Objects;
import java.util.function.Consumer;

/**
 * How long applying a plan may keep others waiting, and how often it tries again.
 *
 * <p><b>Thread-safety:</b> immutable.
 *
 * @param lockTimeout how long one attempt waits for its locks, and so how long it can keep others from a table that it does not
 *     get; 2 s unless set, from 10 ms to 1 h
 * @param attempts how often each table is tried; 30 unless set
 * @param backOff how long to stay away between two rounds of attempts, on average, so that others get on with their work; each time half
 *     to one and a half of it, at random; 2 s unless set
 * @param progress hears of each attempt, in the thread that applies; hears nothing unless set
 */
public record ApplyOptions(
        Duration lockTimeout, int attempts, Duration backOff, Consumer<? super ApplyProgress> progress) {

    private static final Duration SHORTEST = Duration.ofMillis(10);
    private static final Duration LONGEST = Duration.ofHours(1);
    private static final ApplyOptions DEFAULTS =
            new ApplyOptions(Duration.ofSeconds(2), 30, Duration.ofSeconds(2), heard -> {});

    /**
     * Checks every value.
     *
     * @throws IllegalArgumentException when a value is out of its range; the message names it
     */
    public ApplyOptions {
        require(
                lockTimeout.compareTo(SHORTEST) >= 0 && lockTimeout.compareTo(LONGEST) <= 0,
                "lockTimeout is " + lockTimeout + "; it is from 10 ms to 1 h.");
        require(attempts >= 1, "attempts is " + attempts + "; one at least is needed.");
        require(
                !backOff.isNegative() && backOff.compareTo(LONGEST) <= 0,
                "backOff is " + backOff + "; it is from 0 to 1 h.");
        Objects.requireNonNull(progress, "progress");
    }

    private static void require(boolean holds, String otherwise) {
        if (!holds) {
            throw new IllegalArgumentException(otherwise);
        }
    }

    /**
     * Waits 2 s for a lock, 30 times.
     *
     * @return the defaults
     */
    public static ApplyOptions defaults() {
        return DEFAULTS;
    }

    /**
     * Starts from the defaults.
     *
     * @return a builder
     */
    public static Builder builder() {
        return new Builder();
    }

    /** Sets what differs from the defaults. Not thread-safe. */
    public static final class Builder {

        private Duration lockTimeout = DEFAULTS.lockTimeout;
        private int attempts = DEFAULTS.attempts;
        private Duration backOff = DEFAULTS.backOff;
        private Consumer<? super ApplyProgress> progress = DEFAULTS.progress;

        private Builder() {}

        /**
         * Sets how long one attempt waits for its locks.
         *
         * @param timeout from 10 ms to 1 h
         * @return this
         */
        public Builder lockTimeout(Duration timeout) {
            this.lockTimeout = Objects.requireNonNull(timeout, "timeout");
            return this;
        }

        /**
         * Sets how often each table is tried.
         *
         * @param most one or more
         * @return this
         */
        public Builder attempts(int most) {
            this.attempts = most;
            return this;
        }

        /**
         * Sets how long to stay away between two rounds of attempts, on average.
         *
         * @param average up to 1 h
         * @return this
         */
        public Builder backOff(Duration average) {
            this.backOff = Objects.requireNonNull(average, "average");
            return this;
        }

        /**
         * Sets who hears of each attempt.
         *
         * @param listener called in the thread that applies, never while a table is locked but at the end of an attempt; what it throws
         *     ends the applying, and what is done stays
         * @return this
         */
        public Builder progress(Consumer<? super ApplyProgress> listener) {
            this.progress = Objects.requireNonNull(listener, "listener");
            return this;
        }

        /**
         * Finishes.
         *
         * @return the options
         * @throws IllegalArgumentException when a value is out of its range; the message names it
         */
        public ApplyOptions build() {
            return new ApplyOptions(lockTimeout, attempts, backOff, progress);
        }
    }
}
