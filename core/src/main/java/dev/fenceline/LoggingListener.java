package dev.fenceline;

import java.lang.System.Logger;
import java.lang.System.Logger.Level;

/**
 * Writes events to the logger {@code dev.fenceline} of the platform ({@link System.Logger}), each with a stable code to
 * search and alert for. On by default. What to do about which is in {@code docs/operations.md}, "In the log".
 *
 * <p>A refused stale writer is a warning: the fence did its work, and somebody should look at what was paused.
 *
 * <p><b>Thread-safety:</b> any thread.
 */
public final class LoggingListener implements FencelineListener {

    private static final Logger LOG = System.getLogger("dev.fenceline");

    /** Makes a listener that logs. */
    public LoggingListener() {}

    @Override
    public void on(FencelineEvent event) {
        if (event instanceof FencelineEvent.StaleRefused refused) {
            log(
                    Level.WARNING,
                    "FENCELINE-101 stale writer refused by " + refused.resource() + ": "
                            + StaleTokenException.comparison(refused.presented(), refused.newest()));
        } else if (event instanceof FencelineEvent.LeaseLost lost) {
            log(
                    Level.WARNING,
                    "FENCELINE-102 lease of '" + lost.lock() + "' lost after " + Durations.text(lost.held()) + " ("
                            + lost.reason() + "): " + lost.reason().text()
                            + ". Work under it that is not fenced may now happen twice, so stop it; fenced work is refused as soon"
                            + " as a newer holder has claimed");
        } else if (event instanceof FencelineEvent.ReleaseFailed failed) {
            log(
                    Level.WARNING,
                    "FENCELINE-103 release of '" + failed.lock()
                            + "' failed, it is free when the lease time has passed: " + failed.cause());
        } else if (event instanceof FencelineEvent.IncarnationChanged changed) {
            log(
                    Level.INFO,
                    "FENCELINE-104 " + changed.server()
                            + " was restarted, was promoted or lost its data since it was last"
                            + " seen; new tokens are above all that its clock let it grant, and nothing is to be done. It is "
                            + changed.incarnation() + " now");
        } else if (event instanceof FencelineEvent.UnsafeSetting unsafe) {
            log(
                    Level.WARNING,
                    "FENCELINE-105 " + unsafe.resource() + " has " + unsafe.setting() + ": " + unsafe.consequence());
        } else if (event instanceof FencelineEvent.WriteEnded ended
                && ended.outcome() == FencelineEvent.WriteOutcome.UNKNOWN) {
            log(
                    Level.WARNING,
                    "FENCELINE-106 outcome unknown on " + ended.resource() + " under token " + ended.token());
        } else if (event instanceof FencelineEvent.OutageBypassed bypassed) {
            log(Level.WARNING, "FENCELINE-107 " + consequence(bypassed) + ": " + bypassed.cause());
        } else if (event instanceof FencelineEvent.BlockerEvicted evicted) {
            log(
                    Level.WARNING,
                    "FENCELINE-108 session with pid " + evicted.pid() + ", application_name '"
                            + evicted.applicationName() + "' ended: it kept token " + evicted.token() + " out of "
                            + evicted.resource());
        } else if (LOG.isLoggable(Level.DEBUG)) {
            log(Level.DEBUG, "FENCELINE-100 " + event);
        }
    }

    private static String consequence(FencelineEvent.OutageBypassed bypassed) {
        String work = "work under '" + bypassed.lock() + "' ";
        return bypassed.choice() == WhenUnavailable.RUN_ANYWAY
                ? work + "runs without the lock, and may run elsewhere at the same time"
                : work + "is skipped, and may be done by nobody";
    }

    private static void log(Level level, String message) {
        LOG.log(level, message);
    }
}
