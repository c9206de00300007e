package dev.fenceline.testkit;

/**
 * A Redis that is a process of this machine, so that it can crash and sleep.
 *
 * <p><b>Blocking:</b> every method returns when what it asks for has happened, or throws {@link IllegalStateException} after
 * 10 s (30 s for a start).
 */
public interface RedisProcess extends RedisServer, ServerProcess {

    /**
     * On a master, waits until it has at least one replica and each of them has all that was written so far.
     *
     * @throws IllegalStateException when that is not so within 10 s
     */
    void awaitReplicaInSync();
}
