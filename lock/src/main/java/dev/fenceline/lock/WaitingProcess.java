package dev.fenceline.lock;

import java.time.Instant;

/**
 * A process that waits for a lock, as it described itself. It has one place in the queue, however many of its threads wait.
 *
 * @param application its {@link dev.fenceline.LockOptions#application()}
 * @param host the name of its machine
 * @param pid its process id there
 * @param since when it took its place, by the lock server's clock
 */
public record WaitingProcess(String application, String host, long pid, Instant since) {

    /** Returns the whole in one line. */
    @Override
    public String toString() {
        return application + " (host " + host + ", pid " + pid + ") since " + since;
    }
}
