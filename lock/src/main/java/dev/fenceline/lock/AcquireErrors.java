package dev.fenceline.lock;

import dev.fenceline.BackendMisconfiguredException;
import dev.fenceline.BackendUnavailableException;
import dev.fenceline.lock.LockTransport.AcquireReply;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import org.jspecify.annotations.Nullable;

/** Says why a lock was not acquired, with what the server said, and what to do. */
final class AcquireErrors {

    private final ConnectedLocks locks;
    private final LockKey lock;

    AcquireErrors(ConnectedLocks locks, LockKey lock) {
        this.locks = locks;
        this.lock = lock;
    }

    /** Whether a release was sent for a request whose answer is not known. */
    enum Requests {
        ALL_ANSWERED,
        ONE_TAKEN_BACK
    }

    BackendUnavailableException unavailable(String why, Requests requests, @Nullable Throwable cause) {
        String release = requests == Requests.ONE_TAKEN_BACK ? ", a release was sent in case it was granted" : "";
        return new BackendUnavailableException(
                subject() + why + ". Nothing is held" + release + "; trying again is fine.", cause);
    }

    String silence() {
        return server() + " did not answer within "
                + locks.options().commandTimeout().toMillis() + " ms";
    }

    BackendMisconfiguredException forbidden(SendFailure failure) {
        return new BackendMisconfiguredException(
                subject() + failure.getMessage() + ". Nothing is held; restore the grants of this user.", failure);
    }

    BackendUnavailableException counterAhead(AcquireReply.Wait wait) {
        return new BackendUnavailableException(
                subject() + server() + " grants nothing for " + text(micros(wait.micros()))
                        + ": its token counter stands at " + wait.counter() + " (" + instant(wait.counter())
                        + ") and its clock at " + wait.serverTime() + " (" + instant(wait.serverTime())
                        + "), and a token may be ahead by S = "
                        + text(locks.options().clockStepTolerance())
                        + " at most. Nothing is held. Right after a start or a promotion of the server this takes K = "
                        + text(locks.options().masterClockSkew())
                        + ", so wait a little longer; otherwise its clock was set back: correct it.",
                null);
    }

    BackendUnavailableException reborn(AcquireReply.Reborn reborn) {
        return new BackendUnavailableException(
                subject() + server()
                        + " restarted, was promoted, lost its data or was given this slot, and grants nothing for another "
                        + text(micros(reborn.micros())) + " (restartDelay of "
                        + text(locks.options().restartDelay())
                        + "): leases that it may have forgotten end before that. Nothing is held; wait longer.",
                null);
    }

    BackendUnavailableException reborn(AcquireReply.NodesReborn reborn) {
        return new BackendUnavailableException(
                subject() + "so many nodes of " + server()
                        + " are new, restarted or lost their data that the others are no majority, and they grant nothing for"
                        + " another " + text(micros(reborn.micros())) + " (restartDelay of "
                        + text(locks.options().restartDelay())
                        + "): leases that they may have forgotten end before that. Nothing is held; wait longer. A new"
                        + " deployment is spared this by RedlockConnector.firstStart(), or `fenceline redlock first-start`, before"
                        + " anybody connects to it.",
                null);
    }

    BackendMisconfiguredException floorTooFar(AcquireReply.FloorTooFar refused) {
        return new BackendMisconfiguredException(
                subject() + "a resource was claimed with token " + refused.mark() + ", which is "
                        + text(micros(refused.mark() - refused.serverTime())) + " ahead of the clock of " + server()
                        + " ("
                        + refused.serverTime()
                        + "); at most 24 h can be passed. Nothing is held. Compare the clocks; if they are right the mark is"
                        + " forged or damaged: lower it in the resource while nobody writes there.",
                null);
    }

    BackendMisconfiguredException exhausted(AcquireReply.Exhausted exhausted) {
        return new BackendMisconfiguredException(
                subject() + "the token counter on " + server() + " is at " + exhausted.counter()
                        + ", and the next token would not be below 2^53; the server's clock says "
                        + instant(exhausted.serverTime())
                        + ". Nothing is held. Find out who wrote the counter, and set it to a value near that time in"
                        + " microseconds.",
                null);
    }

    private String subject() {
        return "Lock '" + lock.name() + "' not acquired: ";
    }

    private String server() {
        return locks.transport().server();
    }

    private static Duration micros(long micros) {
        return Duration.of(micros, ChronoUnit.MICROS);
    }

    private static Instant instant(long micros) {
        return Instant.EPOCH.plus(micros, ChronoUnit.MICROS);
    }

    private static String text(Duration duration) {
        return duration.toMillis() < 1_000 ? duration.toMillis() + " ms" : duration.toSeconds() + " s";
    }
}
