package dev.fenceline;

import java.time.Instant;

/**
 * The process that holds a lock, as it described itself when it acquired.
 *
 * @param application its {@link LockOptions#application()}
 * @param host the name of its machine
 * @param pid its process id there
 * @param since when it acquired, by the lock server's clock
 */
public record HolderProcess(String application, String host, long pid, Instant since) {

    /** Returns the whole in one line. */
    @Override
    public String toString() {
        return application + " (host " + host + ", pid " + pid + ") since " + since;
    }
}
