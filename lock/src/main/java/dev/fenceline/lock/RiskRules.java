package dev.fenceline.lock;

import dev.fenceline.Finding;
import dev.fenceline.Finding.Severity;
import dev.fenceline.LockOptions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Judges settings with which locks work until something else happens: a restart, a failover, memory that runs short. None of
 * them lets a fence be passed. They let two leases overlap, which a fence settles and an efficiency lock does not.
 */
final class RiskRules {

    private static final int FULL_PERCENT = 90;

    private final String server;
    private final LockOptions options;
    private final Duration delay;
    private final List<Finding> findings = new ArrayList<>();

    /**
     * Judges by options.
     *
     * @param delay for how long a server that restarted grants nothing
     */
    RiskRules(String server, LockOptions options, Duration delay) {
        this.server = server;
        this.options = options;
        this.delay = delay;
    }

    /** A node of Redlock: without being asked to, it waits for a lease. */
    static RiskRules redlock(String server, LockOptions options) {
        boolean longer = options.restartDelay().compareTo(options.lease()) > 0;
        RiskRules rules = new RiskRules(server, options, longer ? options.restartDelay() : options.lease());
        rules.found(
                "redis-redlock",
                Severity.INFO,
                "is a node of Redlock under the key prefix '" + options.keyPrefix()
                        + "', and grants nothing for one lease after it restarted or lost its data; so what a restart forgets lets no"
                        + " two leases overlap",
                "Nothing is to be done, unless programs connect withoutRestartDelay(): then set appendonly yes and appendfsync"
                        + " always. Look at the other nodes too.");
        return rules;
    }

    /**
     * Looks at what a server said.
     *
     * @param info of replication, memory and persistence
     * @param settings as CONFIG GET has them, as far as it was answered
     */
    List<Finding> findings(String info, Map<String, String> settings) {
        boolean forgotten = delay.compareTo(options.lease()) >= 0;
        if (!forgotten) {
            ofPersistence(info, Optional.ofNullable(settings.get("appendfsync")));
        }
        int replicas = Math.toIntExact(number(info, "connected_slaves"));
        if (replicas > 0) {
            if (!forgotten && options.replicas() == 0) {
                ofReplicas(replicas);
            }
            if ("0".equals(settings.get("min-replicas-to-write")) && !info.contains("redis_mode:cluster")) {
                ofTwoMasters();
            }
        }
        ofMemory(number(info, "used_memory"), number(info, "maxmemory"));
        return findings;
    }

    private void ofPersistence(String info, Optional<String> fsync) {
        String tooShort =
                "the option restartDelay is " + text(delay) + ", less than the lease of " + text(options.lease());
        String remedy =
                "Set restartDelay to the longest lease in use, or appendonly yes and appendfsync always. Tokens rise"
                        + " either way, so a fence still refuses the older holder; work under an efficiency lock would be done twice at once.";
        Optional<String> log = ServerRules.told(info, "aof_enabled");
        if (log.filter("0"::equals).isPresent()) {
            found(
                    "redis-persistence",
                    Severity.WARNING,
                    "writes no append-only file (appendonly no), so a restart forgets who holds which lock, and "
                            + tooShort,
                    remedy);
        } else if (log.isPresent() && fsync.filter("no"::equals).isPresent()) {
            found(
                    "redis-fsync",
                    Severity.WARNING,
                    "leaves it to its machine when to write the append-only file (appendfsync no), so a crash of the machine"
                            + " forgets the locks of about half a minute, and " + tooShort,
                    remedy);
        } else if (log.isPresent() && fsync.filter("everysec"::equals).isPresent()) {
            found(
                    "redis-fsync",
                    Severity.INFO,
                    "writes the append-only file to disk once a second (appendfsync everysec), so a crash of the machine"
                            + " forgets the locks of the last second or two, and " + tooShort,
                    remedy);
        }
    }

    private void ofReplicas(int replicas) {
        found(
                "redis-failover",
                Severity.WARNING,
                "has " + replicas + (replicas == 1 ? " replica" : " replicas")
                        + ", and a grant counts before any of them has it (the option replicas is 0), so a failover can forget"
                        + " who holds which lock",
                "Set replicas to 1 or more, or restartDelay to the longest lease in use. Tokens rise either way, so a fence still"
                        + " refuses the older holder; work under an efficiency lock would be done twice at once.");
    }

    private void ofTwoMasters() {
        found(
                "redis-two-masters",
                Severity.INFO,
                "goes on as a master when it is cut off from all its replicas (min-replicas-to-write 0), and grants locks beside"
                        + " the one that took its place",
                "Set min-replicas-to-write 1 and min-replicas-max-lag 10, which bounds that time. While no replica is connected"
                        + " nothing can be locked then.");
    }

    private void ofMemory(long used, long most) {
        if (most > 0 && used >= most / 100 * FULL_PERCENT) {
            found(
                    "redis-memory",
                    Severity.WARNING,
                    "uses " + used + " of " + most
                            + " bytes (used_memory, maxmemory), and grants nothing once they are full",
                    "Raise maxmemory, or take away what is not of locks: they need some hundred bytes each while they are held.");
        }
    }

    /** What this user could not look at. */
    static Finding unseen(String server, Map<String, String> answers) {
        return new Finding(
                "redis-unseen",
                Severity.INFO,
                server,
                "did not tell " + String.join(", ", answers.keySet()) + ", so nothing is said of these here; it "
                        + withoutFullStop(answers.values().iterator().next()),
                "Locks do not need it. To have it looked at, give this user +config|get (+config before Redis 7), or look yourself.");
    }

    private void found(String code, Severity severity, String what, String remedy) {
        findings.add(new Finding(code, severity, server, what, remedy));
    }

    private static long number(String info, String field) {
        return ServerRules.told(info, field)
                .filter(text -> text.matches("[0-9]{1,18}"))
                .map(Long::parseLong)
                .orElse(0L);
    }

    private static String withoutFullStop(String said) {
        return said.endsWith(".") ? said.substring(0, said.length() - 1) : said;
    }

    /** As a person says it. */
    static String text(Duration duration) {
        boolean precise = duration.toSeconds() < 60 && duration.toMillis() % 1_000 != 0;
        return precise ? duration.toMillis() + " ms" : duration.toSeconds() + " s";
    }
}
