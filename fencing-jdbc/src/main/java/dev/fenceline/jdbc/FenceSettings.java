package dev.fenceline.jdbc;

import dev.fenceline.FencelineListener;
import dev.fenceline.LoggingListener;
import java.time.Duration;
import java.util.Optional;

/**
 * What can be set on a fence.
 *
 * @param claimTimeout how long a claim waits for the mark's row; empty means what is left of the lease
 * @param transactionTimeout how long a fenced transaction may last, on PostgreSQL 17 and later
 * @param listener hears of claims and writes
 */
record FenceSettings(Optional<Duration> claimTimeout, Duration transactionTimeout, FencelineListener listener) {

    /** The default lease: what applies where there is a token and no lease. */
    static final Duration WITHOUT_LEASE = Duration.ofSeconds(10);

    /** How long somebody whose lease is over may still hold others up, and the least that anything is given. */
    static final Duration WITH_LOST_LEASE = Duration.ofSeconds(1);

    /** What the network may take on top of what the server may take. */
    static final Duration NETWORK_ALLOWANCE = Duration.ofSeconds(5);

    FenceSettings {
        claimTimeout.ifPresent(
                timeout -> requireBetween("claimTimeout", timeout, Duration.ofMillis(1), Duration.ofHours(1)));
        requireBetween("transactionTimeout", transactionTimeout, Duration.ofMillis(100), Duration.ofDays(1));
    }

    static FenceSettings defaults() {
        return new FenceSettings(Optional.empty(), Duration.ofMinutes(10), new LoggingListener());
    }

    FenceSettings withClaimTimeout(Duration timeout) {
        return new FenceSettings(Optional.of(timeout), transactionTimeout, listener);
    }

    FenceSettings withTransactionTimeout(Duration timeout) {
        return new FenceSettings(claimTimeout, timeout, listener);
    }

    FenceSettings withListener(FencelineListener next) {
        return new FenceSettings(claimTimeout, transactionTimeout, next);
    }

    private static void requireBetween(String name, Duration value, Duration least, Duration most) {
        if (value.compareTo(least) < 0 || value.compareTo(most) > 0) {
            throw new IllegalArgumentException(name + " of " + value.toMillis() + " ms is not between "
                    + least.toMillis() + " ms and " + most.toMillis() + " ms.");
        }
    }
}
