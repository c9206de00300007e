package dev.fenceline.jdbc.repository;

import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/** One attempt at a unit: how far it came, which is asked when it has failed. Of one thread. */
final class Attempt {

    private @Nullable BooleanSupplier committed;

    /** The locks are held and claimed, and the work begins. */
    void begun(BooleanSupplier hasCommitted) {
        committed = hasCommitted;
    }

    /** Whether something of it stays, whatever it threw. */
    boolean hasCommitted() {
        return committed != null && committed.getAsBoolean();
    }
}
