package dev.fenceline.examples.pausedwriter;

import dev.fenceline.LockName;
import java.util.List;

/**
 * What one session has to book.
 *
 * @param mode under which check
 * @param scene in which part of the run
 * @param account on which account
 * @param movements which movements, in one transaction
 */
record Job(Mode mode, Scene scene, String account, List<Movement> movements) {

    Job {
        movements = List.copyOf(movements);
    }

    long changeCents() {
        return movements.stream().mapToLong(Movement::amountCents).sum();
    }

    /** The lock of the account, a different one in each run. */
    LockName lock() {
        return lock(mode, account);
    }

    static LockName lock(Mode mode, String account) {
        return LockName.of("account", mode.schema(), account);
    }
}
