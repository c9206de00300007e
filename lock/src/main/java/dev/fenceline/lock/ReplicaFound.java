package dev.fenceline.lock;

/** The cause where a replica was reached instead of a master, which during a failover does not last. */
final class ReplicaFound extends Exception {

    private static final long serialVersionUID = 1L;

    ReplicaFound() {
        super("INFO replication says role:slave");
    }

    static boolean isCauseOf(Throwable thrown) {
        for (Throwable cause = thrown; cause != null; cause = cause.getCause()) {
            if (cause instanceof ReplicaFound) {
                return true;
            }
        }
        return false;
    }
}
