package dev.fenceline.testkit;

import java.util.LinkedHashMap;
import java.util.Map;

/**
 * Which PostgreSQL a test needs: a fast one that may lose data when the machine (not the server) crashes, unless said
 * otherwise. Commits are synchronous in either case.
 *
 * <p><b>Thread-safety:</b> immutable.
 *
 * @param durability what survives a crash of the machine
 * @param settings lines of postgresql.conf, by name
 */
public record PostgresSpec(Durability durability, Map<String, String> settings) {

    /** What survives a crash of the machine. A crash of the server alone loses no commit in either case. */
    public enum Durability {
        /** Nothing for sure: fsync is off. */
        FAST,
        /** Every commit: fsync is on, and the server was asked whether it is. */
        DURABLE
    }

    /** Keeps its own copy of the settings. */
    public PostgresSpec {
        settings = Map.copyOf(settings);
    }

    /**
     * A fast primary.
     *
     * @return the default
     */
    public static PostgresSpec primary() {
        return new PostgresSpec(Durability.FAST, Map.of());
    }

    /**
     * Keeps every commit over a crash of the machine: fsync is on, which is verified.
     *
     * @return a changed copy
     */
    public PostgresSpec durable() {
        return new PostgresSpec(Durability.DURABLE, settings);
    }

    /**
     * Adds a setting.
     *
     * @param name such as {@code max_prepared_transactions}
     * @param value such as {@code 10}
     * @return a changed copy
     */
    public PostgresSpec setting(String name, String value) {
        Map<String, String> more = new LinkedHashMap<>(settings);
        more.put(name, value);
        return new PostgresSpec(durability, more);
    }

    /** What the server is started with. */
    Map<String, String> effectiveSettings() {
        Map<String, String> all = new LinkedHashMap<>();
        all.put("fsync", durability == Durability.DURABLE ? "on" : "off");
        all.put("synchronous_commit", "on");
        all.put("max_connections", "200");
        // A standby that was copied from a running primary streams what was written since.
        all.put("wal_keep_size", "256MB");
        all.putAll(settings);
        return all;
    }
}
