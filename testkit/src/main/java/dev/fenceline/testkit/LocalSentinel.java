package dev.fenceline.testkit;

import java.nio.file.Path;
import java.util.List;

/** A redis-server that watches others. It keeps what it learns in its own redis.conf. */
final class LocalSentinel extends RedisDaemon implements SentinelProcess {

    /**
     * Sentinel connects to a server that it has just promoted no sooner than a second after its last try to connect to the old
     * one. With less than that here it then often thinks the new master dead too, and fails over once more.
     */
    private static final int DOWN_AFTER_MILLIS = 1_500;

    private static final int FAILOVER_TIMEOUT_MILLIS = 2_000;

    private LocalSentinel(Running running) {
        super(running);
    }

    static LocalSentinel start(SentinelSpec spec, RedisServer master) {
        Launch launch = new Launch(
                FreePorts::next,
                (directory, port) -> configuration(spec, master, directory, port),
                List.of("--sentinel"),
                spec.sentinelPassphrase());
        return new LocalSentinel(Running.start(launch));
    }

    private static String configuration(SentinelSpec spec, RedisServer master, Path directory, int port) {
        String name = RedisSentinel.MASTER_NAME;
        int quorum = spec.sentinels() / 2 + 1;
        StringBuilder text = new StringBuilder()
                .append("bind " + HOST + "\nport " + port + "\ndir \"" + directory + "\"\n")
                .append("sentinel monitor " + name + " " + master.host() + " " + master.port() + " " + quorum + "\n")
                .append("sentinel down-after-milliseconds " + name + " " + DOWN_AFTER_MILLIS + "\n")
                .append("sentinel failover-timeout " + name + " " + FAILOVER_TIMEOUT_MILLIS + "\n");
        spec.server()
                .passphrase()
                .ifPresent(password -> text.append("sentinel auth-pass " + name + " " + password + "\n"));
        spec.sentinelPassphrase().ifPresent(password -> text.append("requirepass " + password + "\n"));
        return text.toString();
    }

    @Override
    void awaitServing() {
        // Whoever needs what it knows waits for that.
    }

    @Override
    public String uri() {
        return "redis-sentinel://" + HOST + ":" + port() + "#" + RedisSentinel.MASTER_NAME;
    }

    @Override
    public String toString() {
        return "Sentinel on port " + port() + ", pid " + pid();
    }
}
