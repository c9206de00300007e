package dev.fenceline.lock;

import java.time.Instant;
import java.time.temporal.ChronoUnit;

/** The two clocks of this machine. They are compared with each other, so tests can set them apart. */
interface LockClock {

    /** Rises at a steady pace, but may stand still while the machine is suspended. */
    long nanoTime();

    /** Microseconds since 1970; goes on during a suspension, and may be set. */
    long wallMicros();

    static LockClock system() {
        return new LockClock() {
            @Override
            public long nanoTime() {
                return System.nanoTime();
            }

            @Override
            public long wallMicros() {
                return ChronoUnit.MICROS.between(Instant.EPOCH, Instant.now());
            }
        };
    }
}
