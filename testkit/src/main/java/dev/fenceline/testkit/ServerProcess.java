package dev.fenceline.testkit;

/**
 * A server that is a process of this machine, so that it can crash and sleep.
 *
 * <p><b>Blocking:</b> every method returns when what it asks for has happened, or throws {@link IllegalStateException} after
 * 10 s (30 s for a start).
 */
public interface ServerProcess {

    /**
     * Returns the process id, another one after a restart.
     *
     * @return the pid
     */
    long pid();

    /** Ends the process by SIGKILL. What was not persistent is lost; the port and the directory are kept for a restart. */
    void kill();

    /**
     * Starts the server again on the same port, directory and settings, after a SIGKILL if it still runs. Returns when it
     * answers PING.
     */
    void restart();

    /** Stops the process by SIGSTOP: connections stay open, nothing is answered. */
    void pause();

    /** Continues the process by SIGCONT. */
    void resume();
}
