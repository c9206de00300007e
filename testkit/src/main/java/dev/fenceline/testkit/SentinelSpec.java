package dev.fenceline.testkit;

import java.util.Optional;

/**
 * Which servers a test of Sentinel needs: a master with one replica, watched by one Sentinel, unless said otherwise.
 *
 * <p><b>Thread-safety:</b> immutable.
 *
 * @param server what the master and its replicas are like
 * @param replicas how many there are, at least one
 * @param sentinels how many watch, at least one; more than half of them must agree that the master is down
 * @param sentinelPassphrase what clients of the Sentinels must present
 */
public record SentinelSpec(RedisSpec server, int replicas, int sentinels, Optional<String> sentinelPassphrase) {

    /**
     * Checks the numbers.
     *
     * @throws IllegalArgumentException when there is no replica or no Sentinel, or when the server is a replica of another
     */
    public SentinelSpec {
        if (replicas < 1 || sentinels < 1) {
            throw new IllegalArgumentException("A failover needs at least one replica and one Sentinel, not " + replicas
                    + " and " + sentinels + ".");
        }
        if (server.replicated().isPresent()) {
            throw new IllegalArgumentException("The servers replicate each other; " + server + " has another master.");
        }
    }

    /**
     * One replica and one Sentinel, without persistence and passwords.
     *
     * @return the default
     */
    public static SentinelSpec pair() {
        return new SentinelSpec(RedisSpec.master(), 1, 1, Optional.empty());
    }

    /**
     * Chooses what the master and its replicas are like.
     *
     * @param wanted persistence, password and settings
     * @return a changed copy
     */
    public SentinelSpec server(RedisSpec wanted) {
        return new SentinelSpec(wanted, replicas, sentinels, sentinelPassphrase);
    }

    /**
     * Chooses the number of replicas.
     *
     * @param wanted at least one
     * @return a changed copy
     */
    public SentinelSpec replicas(int wanted) {
        return new SentinelSpec(server, wanted, sentinels, sentinelPassphrase);
    }

    /**
     * Chooses the number of Sentinels.
     *
     * @param wanted at least one; with two, no failover happens while one of them is down
     * @return a changed copy
     */
    public SentinelSpec sentinels(int wanted) {
        return new SentinelSpec(server, replicas, wanted, sentinelPassphrase);
    }

    /**
     * Has the Sentinels demand a password. That of the servers is in {@link #server(RedisSpec)}.
     *
     * @param password without spaces and quotes
     * @return a changed copy
     */
    public SentinelSpec sentinelPassword(String password) {
        return new SentinelSpec(server, replicas, sentinels, Optional.of(password));
    }

    /** Leaves the password out. */
    @Override
    public String toString() {
        return "SentinelSpec[" + replicas + " replicas, " + sentinels + " Sentinels"
                + (sentinelPassphrase.isPresent() ? " with password" : "") + ", " + server + "]";
    }
}
