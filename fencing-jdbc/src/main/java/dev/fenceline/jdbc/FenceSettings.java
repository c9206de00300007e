package dev.fenceline.jdbc;

import dev.fenceline.FencelineListener;
import dev.fenceline.LoggingListener;
import java.time.Duration;
import java.util.EnumSet;
import java.util.Optional;
import java.util.Set;

/**
 * What can be set on a fence.
 *
 * @param claimTimeout how long a claim waits for the mark's row; empty means what is left of the lease
 * @param transactionTimeout how long a fenced transaction may last, on PostgreSQL 17 and later
 * @param isolation that of its transactions; empty means what the session has
 * @param choices what was chosen beyond the defaults
 * @param listener hears of claims and writes
 */
record FenceSettings(
        Optional<Duration> claimTimeout,
        Duration transactionTimeout,
        Optional<Isolation> isolation,
        Set<Choice> choices,
        FencelineListener listener) {

    /** What is off unless chosen. */
    enum Choice {
        /** Transactions of one claim run beside each other. */
        CONCURRENT,
        /** Single statements write down their operation. */
        RECORDED,
        /** A claim ends the session that keeps it out. */
        EVICT_BLOCKERS
    }

    /** The default lease: what applies where there is a token and no lease. */
    static final Duration WITHOUT_LEASE = Duration.ofSeconds(10);

    /** How long somebody whose lease is over may still hold others up, and the least that anything is given. */
    static final Duration WITH_LOST_LEASE = Duration.ofSeconds(1);

    // One for all: what a listener has heard already it does not hear again from the next fence.
    private static final FencelineListener LOG = new LoggingListener();

    /** What the network may take on top of what the server may take. */
    static final Duration NETWORK_ALLOWANCE = Duration.ofSeconds(5);

    FenceSettings {
        claimTimeout.ifPresent(
                timeout -> requireBetween("claimTimeout", timeout, Duration.ofMillis(1), Duration.ofHours(1)));
        requireBetween("transactionTimeout", transactionTimeout, Duration.ofMillis(100), Duration.ofDays(1));
        choices = Set.copyOf(choices);
    }

    static FenceSettings defaults() {
        return new FenceSettings(Optional.empty(), Duration.ofMinutes(10), Optional.empty(), Set.of(), LOG);
    }

    FenceSettings withClaimTimeout(Duration timeout) {
        return new FenceSettings(Optional.of(timeout), transactionTimeout, isolation, choices, listener);
    }

    FenceSettings withTransactionTimeout(Duration timeout) {
        return new FenceSettings(claimTimeout, timeout, isolation, choices, listener);
    }

    FenceSettings withIsolation(Isolation next) {
        return new FenceSettings(claimTimeout, transactionTimeout, Optional.of(next), choices, listener);
    }

    FenceSettings with(Choice choice) {
        Set<Choice> more = EnumSet.of(choice);
        more.addAll(choices);
        return new FenceSettings(claimTimeout, transactionTimeout, isolation, more, listener);
    }

    FenceSettings withListener(FencelineListener next) {
        return new FenceSettings(claimTimeout, transactionTimeout, isolation, choices, next);
    }

    boolean has(Choice choice) {
        return choices.contains(choice);
    }

    private static void requireBetween(String name, Duration value, Duration least, Duration most) {
        if (value.compareTo(least) < 0 || value.compareTo(most) > 0) {
            throw new IllegalArgumentException(name + " of " + value.toMillis() + " ms is not between "
                    + least.toMillis() + " ms and " + most.toMillis() + " ms.");
        }
    }
}
