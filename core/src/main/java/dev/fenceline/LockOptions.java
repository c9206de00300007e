package dev.fenceline;

import java.time.Duration;
import java.util.Optional;
import java.util.regex.Pattern;

/**
 * How locks are taken and kept; the one place of all defaults.
 *
 * <p><b>Thread-safety:</b> immutable.
 *
 * @param lease how long a grant lasts without renewal; 10 s unless set, from 100 ms to 1 day
 * @param renewalPeriod how often a held lease is renewed; a third of the lease unless set, and shorter than the lease
 * @param maxHold after this time a lease is no longer renewed, so that a thread that died cannot hold for ever; 10 min unless
 *     set
 * @param maxWait how long {@link DistributedLock#acquire()} waits; one lease unless set
 * @param commandTimeout how long one command to the lock server may take; 1 s unless set
 * @param clockStepTolerance how far tokens may be ahead of the lock server's clock (S), and so by how much that clock may step
 *     back without a pause in granting; 10 s unless set. Tokens are ahead by up to S right after the server started, was
 *     promoted or lost its data; a step then pauses granting, and together with another loss of data it can lower tokens. All
 *     clients of one {@code keyPrefix} must use the same value
 * @param masterClockSkew how far the clocks of a master and the replica that replaces it may differ (K); 250 ms unless set. A
 *     server that just started, or just became master, grants nothing for this time. All clients of one {@code keyPrefix} must
 *     use the same value
 * @param restartDelay for so long after the lock server started, was promoted or lost its data, nothing is granted there; zero
 *     unless set. With the longest lease in use, a grant that the server forgot has ended before the next one begins. It
 *     protects leases, not tokens, which rise without it. Names share 1,024 counters, and a counter that is used for the first time looks like
 *     one that was lost: the first grant there waits too. In a Cluster so does the first grant of each slot that moved, and of each counter
 *     after a failover. With Redlock it is one lease at least, once for each node. All clients of one {@code keyPrefix} must use the
 *     same value
 * @param replicas how many replicas must have acknowledged a grant before it counts; 0 unless set. Each grant then takes one more
 *     round trip, and does not count where fewer acknowledge within a quarter of a {@code commandTimeout}. It makes it less likely
 *     that a failover loses a grant, and rules it out only if every replica that may be promoted is among them
 * @param incarnationCheck whether each grant asks the lock server which incarnation it is; {@link IncarnationCheck#CACHED} unless
 *     set
 * @param keyPrefix separates environments on one server; {@code fenceline} unless set
 * @param application who holds the lock, for the messages of those who wait; the main class unless set
 * @param listener hears of everything that happens; logs unless set
 */
public record LockOptions(
        Duration lease,
        Duration renewalPeriod,
        Duration maxHold,
        Duration maxWait,
        Duration commandTimeout,
        Duration clockStepTolerance,
        Duration masterClockSkew,
        Duration restartDelay,
        int replicas,
        IncarnationCheck incarnationCheck,
        String keyPrefix,
        String application,
        FencelineListener listener) {

    /** How this client knows that the lock server is still the one that it looked at. */
    public enum IncarnationCheck {
        /** It looks once a second and relies on it in between: a connection leads to one server process for all its life. */
        CACHED,
        /**
         * Every grant looks, for a few microseconds more of the server's time. Needed where something between client and server
         * spreads the commands of one connection over several servers, one after the other.
         */
        EVERY_GRANT
    }

    private static final Duration DEFAULT_LEASE = Duration.ofSeconds(10);
    private static final Duration MIN_LEASE = Duration.ofMillis(100);
    private static final Duration MAX_LEASE = Duration.ofDays(1);
    private static final Duration LONGEST = Duration.ofDays(366);
    private static final Pattern PREFIX = Pattern.compile("[A-Za-z0-9._-]{1,64}");
    private static final int MAX_REPLICAS = 100;
    private static final int MAX_APPLICATION_LENGTH = 100;

    /**
     * Checks every value.
     *
     * @throws IllegalArgumentException when a value is out of its range; the message names it
     */
    public LockOptions {
        requireBetween("lease", lease, MIN_LEASE, MAX_LEASE);
        requireBetween("renewalPeriod", renewalPeriod, Duration.ofMillis(10), lease.minusMillis(1));
        requireBetween("maxHold", maxHold, lease, LONGEST);
        requireBetween("maxWait", maxWait, Duration.ZERO, LONGEST);
        requireBetween("commandTimeout", commandTimeout, Duration.ofMillis(10), Duration.ofMinutes(1));
        requireBetween("clockStepTolerance", clockStepTolerance, Duration.ZERO, Duration.ofHours(24));
        requireBetween("masterClockSkew", masterClockSkew, Duration.ZERO, Duration.ofMinutes(1));
        requireBetween("restartDelay", restartDelay, Duration.ZERO, MAX_LEASE);
        if (replicas < 0 || replicas > MAX_REPLICAS) {
            throw new IllegalArgumentException(
                    "replicas of " + replicas + " is not between 0 and " + MAX_REPLICAS + ".");
        }
        if (!PREFIX.matcher(keyPrefix).matches()) {
            throw new IllegalArgumentException(
                    "keyPrefix '" + keyPrefix
                            + "' cannot be used: 1 to 64 letters, digits, '.', '-' or '_', so that it cannot change a key's hash slot.");
        }
        if (application.isBlank()
                || application.length() > MAX_APPLICATION_LENGTH
                || application.chars().anyMatch(Character::isISOControl)) {
            throw new IllegalArgumentException("application must be 1 to " + MAX_APPLICATION_LENGTH
                    + " printable characters; it tells others who holds a lock.");
        }
    }

    /**
     * Returns the defaults.
     *
     * @return options with which most programs run well
     */
    public static LockOptions defaults() {
        return builder().build();
    }

    /**
     * Starts from the defaults.
     *
     * @return a builder
     */
    public static Builder builder() {
        return new Builder();
    }

    private static void requireBetween(String name, Duration value, Duration least, Duration most) {
        if (value.compareTo(least) < 0 || value.compareTo(most) > 0) {
            throw new IllegalArgumentException(name + " of " + Durations.text(value) + " is not between "
                    + Durations.text(least) + " and " + Durations.text(most) + ".");
        }
    }

    /** Collects what differs from the defaults. Not thread-safe. */
    public static final class Builder {

        private Duration lease = DEFAULT_LEASE;
        private Optional<Duration> renewalPeriod = Optional.empty();
        private Optional<Duration> maxHold = Optional.empty();
        private Optional<Duration> maxWait = Optional.empty();
        private Duration commandTimeout = Duration.ofSeconds(1);
        private Duration clockStepTolerance = Duration.ofSeconds(10);
        private Duration masterClockSkew = Duration.ofMillis(250);
        private Duration restartDelay = Duration.ZERO;
        private int replicas;
        private IncarnationCheck incarnationCheck = IncarnationCheck.CACHED;
        private String keyPrefix = "fenceline";
        private String application = mainClass();
        private FencelineListener listener = new LoggingListener();

        private Builder() {}

        /**
         * Sets {@link LockOptions#lease()}.
         *
         * @param value 100 ms to 1 day
         * @return this builder
         */
        public Builder lease(Duration value) {
            this.lease = value;
            return this;
        }

        /**
         * Sets {@link LockOptions#renewalPeriod()}.
         *
         * @param value at least 10 ms and shorter than the lease
         * @return this builder
         */
        public Builder renewalPeriod(Duration value) {
            this.renewalPeriod = Optional.of(value);
            return this;
        }

        /**
         * Sets {@link LockOptions#maxHold()}.
         *
         * @param value at least one lease
         * @return this builder
         */
        public Builder maxHold(Duration value) {
            this.maxHold = Optional.of(value);
            return this;
        }

        /**
         * Sets {@link LockOptions#maxWait()}.
         *
         * @param value zero or more
         * @return this builder
         */
        public Builder maxWait(Duration value) {
            this.maxWait = Optional.of(value);
            return this;
        }

        /**
         * Sets {@link LockOptions#commandTimeout()}.
         *
         * @param value 10 ms to 1 min
         * @return this builder
         */
        public Builder commandTimeout(Duration value) {
            this.commandTimeout = value;
            return this;
        }

        /**
         * Sets {@link LockOptions#clockStepTolerance()}.
         *
         * @param value zero to 24 h
         * @return this builder
         */
        public Builder clockStepTolerance(Duration value) {
            this.clockStepTolerance = value;
            return this;
        }

        /**
         * Sets {@link LockOptions#masterClockSkew()}.
         *
         * @param value zero to 1 min
         * @return this builder
         */
        public Builder masterClockSkew(Duration value) {
            this.masterClockSkew = value;
            return this;
        }

        /**
         * Sets {@link LockOptions#restartDelay()}.
         *
         * @param value zero to 1 day; the longest lease in use, or zero
         * @return this builder
         */
        public Builder restartDelay(Duration value) {
            this.restartDelay = value;
            return this;
        }

        /**
         * Sets {@link LockOptions#replicas()}.
         *
         * @param value 0 to 100; as many must be connected when the locks are
         * @return this builder
         */
        public Builder replicas(int value) {
            this.replicas = value;
            return this;
        }

        /**
         * Sets {@link LockOptions#incarnationCheck()}.
         *
         * @param value how the lock server is recognised
         * @return this builder
         */
        public Builder incarnationCheck(IncarnationCheck value) {
            this.incarnationCheck = value;
            return this;
        }

        /**
         * Sets {@link LockOptions#keyPrefix()}.
         *
         * @param value 1 to 64 letters, digits, dots, hyphens or underscores
         * @return this builder
         */
        public Builder keyPrefix(String value) {
            this.keyPrefix = value;
            return this;
        }

        /**
         * Sets {@link LockOptions#application()}.
         *
         * @param value 1 to 100 printable characters
         * @return this builder
         */
        public Builder application(String value) {
            this.application = value;
            return this;
        }

        /**
         * Sets {@link LockOptions#listener()}, in place of the one that logs.
         *
         * @param value hears of everything; see {@link FencelineListener#and} to keep the log
         * @return this builder
         */
        public Builder listener(FencelineListener value) {
            this.listener = value;
            return this;
        }

        /**
         * Makes the options.
         *
         * @return checked options
         * @throws IllegalArgumentException when a value is out of its range
         */
        public LockOptions build() {
            // The lease is checked first: the others derive from it.
            requireBetween("lease", lease, MIN_LEASE, MAX_LEASE);
            Duration defaultMaxHold = lease.compareTo(Duration.ofMinutes(10)) > 0 ? lease : Duration.ofMinutes(10);
            return new LockOptions(
                    lease,
                    renewalPeriod.orElse(lease.dividedBy(3)),
                    maxHold.orElse(defaultMaxHold),
                    maxWait.orElse(lease),
                    commandTimeout,
                    clockStepTolerance,
                    masterClockSkew,
                    restartDelay,
                    replicas,
                    incarnationCheck,
                    keyPrefix,
                    application,
                    listener);
        }

        private static String mainClass() {
            String command = System.getProperty("sun.java.command", "").split(" ", 2)[0];
            String simple = command.substring(Math.max(command.lastIndexOf('.'), command.lastIndexOf('/')) + 1);
            if (command.endsWith(".jar")) {
                simple = command.substring(command.lastIndexOf('/') + 1);
            }
            if (simple.isBlank()) {
                return "java";
            }
            return simple.length() > MAX_APPLICATION_LENGTH ? simple.substring(0, MAX_APPLICATION_LENGTH) : simple;
        }
    }
}
