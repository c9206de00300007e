package dev.fenceline.testkit;

/**
 * A PostgreSQL that consists of processes of this machine, so that it can crash and have a standby.
 *
 * <p><b>Blocking:</b> every method returns when what it asks for has happened, or throws {@link IllegalStateException} after
 * 30 s.
 */
public interface PostgresProcess extends PostgresServer {

    /**
     * Returns the process id of the postmaster, another one after a restart.
     *
     * @return the pid
     */
    long pid();

    /** Ends all its processes by SIGKILL. The directory and the port are kept for a restart. */
    void crash();

    /**
     * Starts the server again on the same port, directory and settings; one that still runs is stopped first, with an end to
     * all its sessions. Returns when it answers.
     */
    void restart();

    /**
     * Starts a hot standby that streams from this server, with the same settings. This server goes on meanwhile, and its
     * sessions with it.
     *
     * @return a server for reading; {@code SELECT pg_promote()} makes it a primary. It is stopped with the {@link Servers} that
     *     this server came from, or earlier by its own {@code close()}
     */
    PostgresProcess standby();

    /**
     * On a primary, waits until it has at least one standby and each of them shows all that was committed so far.
     *
     * @throws IllegalStateException when that is not so within 30 s
     */
    void awaitStandbyInSync();
}
