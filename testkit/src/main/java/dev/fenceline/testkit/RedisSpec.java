package dev.fenceline.testkit;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;

/**
 * Which Redis a test needs: a master that keeps nothing over a restart, unless said otherwise.
 *
 * <p><b>Thread-safety:</b> immutable.
 *
 * @param persistence what survives a restart
 * @param replicated the master of a replica
 * @param passphrase what clients must present
 * @param settings further lines of redis.conf, by name
 */
public record RedisSpec(
        Persistence persistence,
        Optional<RedisServer> replicated,
        Optional<String> passphrase,
        Map<String, String> settings) {

    /** What survives a restart. */
    public enum Persistence {
        /** Nothing: no snapshot and no log. */
        NONE,
        /** Everything that was acknowledged: an append-only file, synced at each write. */
        EVERY_WRITE
    }

    /** Keeps its own copy of the settings. */
    public RedisSpec {
        settings = Map.copyOf(settings);
    }

    /**
     * A master without persistence and without a password.
     *
     * @return the default
     */
    public static RedisSpec master() {
        return new RedisSpec(Persistence.NONE, Optional.empty(), Optional.empty(), Map.of());
    }

    /**
     * Keeps every acknowledged write over a crash.
     *
     * @return a changed copy
     */
    public RedisSpec persistent() {
        return new RedisSpec(Persistence.EVERY_WRITE, replicated, passphrase, settings);
    }

    /**
     * Makes it a replica. Started, it is linked to its master already.
     *
     * @param master a server of the same {@link Servers}
     * @return a changed copy
     */
    public RedisSpec replicaOf(RedisServer master) {
        return new RedisSpec(persistence, Optional.of(master), passphrase, settings);
    }

    /**
     * Demands a password. A replica needs the same one as its master.
     *
     * @param password without spaces and quotes
     * @return a changed copy
     */
    public RedisSpec password(String password) {
        return new RedisSpec(persistence, replicated, Optional.of(password), settings);
    }

    /**
     * Adds a line of redis.conf.
     *
     * @param name such as {@code maxmemory-policy}
     * @param value as redis.conf has it, such as {@code allkeys-lru}
     * @return a changed copy
     */
    public RedisSpec setting(String name, String value) {
        Map<String, String> more = new LinkedHashMap<>(settings);
        more.put(name, value);
        return new RedisSpec(persistence, replicated, passphrase, more);
    }

    /** Leaves the password out. */
    @Override
    public String toString() {
        return "RedisSpec[" + persistence + (replicated.isPresent() ? ", replica" : ", master")
                + (passphrase.isPresent() ? ", with password" : "") + ", " + settings + "]";
    }
}
