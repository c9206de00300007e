package dev.fenceline.jdbc.repository;

import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/** One attempt at a unit: how far it came, which is asked when it has failed. Of one thread. */
final class Attempt {

    private @Nullable BooleanSupplier mayHaveCommitted;

    /** The locks are held and claimed, and the work begins. */
    void begun(BooleanSupplier asked) {
        mayHaveCommitted = asked;
    }

    /** Whether something of it stays, or may, whatever it threw. */
    boolean mayHaveCommitted() {
        return mayHaveCommitted != null && mayHaveCommitted.getAsBoolean();
    }
}
