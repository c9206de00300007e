package dev.fenceline.examples.pausedwriter;

import java.util.List;

/**
 * How one run ended.
 *
 * @param mode which run
 * @param bookings how many movements are booked, each counted once
 * @param accepted how many writes the database took
 * @param refused how many it refused
 * @param refusedWhileStopped how many of the refused were stale writes of a process that had been seen in state T
 * @param lostUpdates accepted writes whose base version is not the one that they replaced
 * @param errors the balances that are wrong now
 */
record RunResult(
        Mode mode,
        long bookings,
        long accepted,
        long refused,
        long refusedWhileStopped,
        long lostUpdates,
        List<BookError> errors) {

    RunResult {
        errors = List.copyOf(errors);
    }

    /** The money that is in the wrong place, whatever its sign. */
    long errorCents() {
        return errors.stream()
                .mapToLong(error -> Math.abs(error.differenceCents()))
                .sum();
    }
}
