package dev.fenceline.verification.torture;

import dev.fenceline.testkit.RedisProcess;
import dev.fenceline.verification.torture.Deployment.Pace;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Supplier;

/**
 * A master that is struck, and returns only after the service is there again with its successor: so that the time until then
 * counts from when the successor is known, and not from when the old one is back.
 */
final class Victim {

    /** As long as the pauses of a run are. */
    static final Duration PAUSE = Duration.ofSeconds(5);

    private record Blow(RedisProcess struck, long at) {}

    private final Supplier<RedisProcess> choice;
    private final AtomicReference<Blow> last = new AtomicReference<>();

    Victim(Supplier<RedisProcess> choice) {
        this.choice = choice;
    }

    RedisProcess kill() {
        RedisProcess master = choice.get();
        last.set(new Blow(master, System.nanoTime()));
        master.kill();
        return master;
    }

    void restart() {
        blow().struck().restart();
    }

    RedisProcess pause() {
        RedisProcess master = choice.get();
        master.pause();
        last.set(new Blow(master, System.nanoTime()));
        return master;
    }

    /** Lets the rest of the pause pass first, if its successor came within it. */
    void resume(Pace pace) {
        Blow blow = blow();
        pace.hold(PAUSE.minusNanos(System.nanoTime() - blow.at()));
        blow.struck().resume();
    }

    private Blow blow() {
        return Objects.requireNonNull(last.get(), "Nobody was struck yet.");
    }
}
