package dev.fenceline.testkit;

import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * A real master with its replicas, watched by real Sentinels that make a replica the master when the master is gone: 1.5 s
 * until they notice, about a second more for the failover.
 *
 * <p>A master that was replaced, and comes back (after {@link RedisProcess#restart()} or {@link RedisProcess#resume()}) or never
 * went away ({@link #failover()}), believes that it is the master, and takes writes, until a Sentinel has made it a replica. By
 * the rules of Sentinel that takes 8 s and more. {@link #awaitReplicas()} waits for it.
 *
 * <p><b>Blocking:</b> every method that awaits throws {@link IllegalStateException} after 30 s; the message holds what the
 * Sentinels said.
 *
 * <p><b>Thread-safety:</b> any thread.
 */
public final class RedisSentinel implements AutoCloseable {

    /** What the Sentinels call the master. */
    public static final String MASTER_NAME = "fenceline";

    private static final Duration LIMIT = Duration.ofSeconds(30);

    private final SentinelSpec spec;
    private final List<LocalRedis> servers = new ArrayList<>();
    private final List<LocalSentinel> sentinels = new ArrayList<>();
    private final Deque<AutoCloseable> started = new ArrayDeque<>();

    private RedisSentinel(SentinelSpec spec) {
        this.spec = spec;
    }

    static RedisSentinel start(SentinelSpec spec) {
        RedisSentinel deployment = new RedisSentinel(spec);
        try {
            deployment.start();
            return deployment;
        } catch (IllegalStateException e) {
            deployment.close();
            throw e;
        }
    }

    private void start() {
        LocalRedis master = started(LocalRedis.start(spec.server()), servers);
        for (int i = 0; i < spec.replicas(); i++) {
            started(LocalRedis.start(spec.server().replicaOf(master)), servers);
        }
        for (int i = 0; i < spec.sentinels(); i++) {
            started(LocalSentinel.start(spec, master), sentinels);
        }
        awaitReplicas();
    }

    private <T extends AutoCloseable> T started(T process, List<T> list) {
        started.push(process);
        list.add(process);
        return process;
    }

    /**
     * Returns where to connect to, as Lettuce reads it.
     *
     * @return {@code redis-sentinel://host:port,host:port#name}, with the password of the servers in it if one was set; that of
     *     the Sentinels has no place there
     */
    public String uri() {
        String credentials = spec.server()
                .passphrase()
                .map(password -> ":" + URLEncoder.encode(password, StandardCharsets.UTF_8) + "@")
                .orElse("");
        String hosts = sentinels.stream()
                .map(sentinel -> sentinel.host() + ":" + sentinel.port())
                .collect(Collectors.joining(","));
        return "redis-sentinel://" + credentials + hosts + "#" + MASTER_NAME;
    }

    /**
     * Returns all servers, whatever they are now, and whether or not they run.
     *
     * @return the first master at index 0, then the first replicas
     */
    public List<RedisProcess> servers() {
        return List.copyOf(servers);
    }

    /**
     * Returns the Sentinels, whether or not they run.
     *
     * @return at least one
     */
    public List<SentinelProcess> sentinels() {
        return List.copyOf(sentinels);
    }

    /**
     * Returns the server that all running Sentinels call the master and that says so itself; waits while they disagree.
     *
     * @return the master
     */
    public RedisProcess master() {
        return awaitMaster("all running Sentinels name one master", new HashSet<>(servers));
    }

    /**
     * Waits until another server is the master. A client may have it a moment earlier or later.
     *
     * @param old one that was, and is killed, paused or about to be replaced
     * @return the new master
     */
    public RedisProcess awaitMasterOtherThan(RedisProcess old) {
        Set<LocalRedis> others = new HashSet<>(servers);
        others.removeIf(server -> server.port() == old.port());
        return awaitMaster("all running Sentinels name another master than " + old, others);
    }

    /**
     * Orders a failover while the master runs, as an operator does, and waits for the new master.
     *
     * <p><b>Not guaranteed:</b> that the old master has stopped taking writes on open connections; {@link #awaitReplicas()} waits
     * for that.
     *
     * @return the new master
     */
    public RedisProcess failover() {
        RedisProcess old = master();
        LocalSentinel sentinel = awakeSentinels().get(0);
        Polling.until(
                "a Sentinel accepts the order of a failover", // it refuses while another one is going on
                LIMIT,
                () -> sentinel.ask("SENTINEL", "FAILOVER", MASTER_NAME).isPresent(),
                this::seen);
        return awaitMasterOtherThan(old);
    }

    /**
     * Waits until every server but the master is a linked replica of the master, and known as such to every running Sentinel. A
     * failover that comes next finds a candidate. Servers that were killed or paused are left out.
     *
     * @return the replicas
     */
    public List<RedisProcess> awaitReplicas() {
        Polling.until("the running servers are replicas of one master", LIMIT, this::settled, this::seen);
        RedisProcess master = master();
        return servers.stream()
                .filter(server -> server != master)
                .<RedisProcess>map(server -> server)
                .toList();
    }

    private boolean settled() {
        Optional<LocalRedis> named = named().filter(RedisSentinel::saysMaster);
        if (named.isEmpty()) {
            return false;
        }
        LocalRedis master = named.get();
        List<LocalRedis> replicas = servers.stream()
                .filter(server -> server != master && server.awake())
                .toList();
        return replicas.stream().allMatch(replica -> follows(replica, master))
                && awakeSentinels().stream().allMatch(sentinel -> knows(sentinel, replicas));
    }

    private static boolean follows(LocalRedis replica, LocalRedis master) {
        return replica.ask("INFO", "replication")
                .filter(info -> info.contains("role:slave")
                        && info.contains("master_port:" + master.port())
                        && info.contains("master_link_status:up"))
                .isPresent();
    }

    private boolean knows(LocalSentinel sentinel, List<LocalRedis> replicas) {
        String known = sentinel.ask("SENTINEL", "REPLICAS", MASTER_NAME).orElse("");
        String master = sentinel.ask("SENTINEL", "MASTER", MASTER_NAME).orElse("");
        return replicas.stream().allMatch(replica -> known.contains(replica.host() + ":" + replica.port()))
                && master.contains("num-other-sentinels\n" + (sentinels.size() - 1));
    }

    private LocalRedis awaitMaster(String what, Set<LocalRedis> candidates) {
        List<LocalRedis> found = new ArrayList<>();
        Polling.until(
                what,
                LIMIT,
                () -> {
                    named().filter(candidates::contains)
                            .filter(RedisSentinel::saysMaster)
                            .ifPresent(found::add);
                    return !found.isEmpty();
                },
                this::seen);
        return found.get(0);
    }

    private static boolean saysMaster(LocalRedis server) {
        return server.awake()
                && server.ask("INFO", "replication")
                        .filter(info -> info.contains("role:master"))
                        .isPresent();
    }

    /** The one server that every running Sentinel calls the master. */
    private Optional<LocalRedis> named() {
        Set<String> named =
                awakeSentinels().stream().map(RedisSentinel::address).collect(Collectors.toSet());
        return servers.stream()
                .filter(server -> named.equals(Set.of(server.host() + "\n" + server.port())))
                .findFirst();
    }

    private static String address(LocalSentinel sentinel) {
        return sentinel.ask("SENTINEL", "GET-MASTER-ADDR-BY-NAME", MASTER_NAME).orElse("");
    }

    private List<LocalSentinel> awakeSentinels() {
        List<LocalSentinel> awake =
                sentinels.stream().filter(RedisDaemon::awake).toList();
        if (awake.isEmpty()) {
            throw new IllegalStateException("No Sentinel runs, so none can name the master.");
        }
        return awake;
    }

    private String seen() {
        return sentinels.stream()
                .map(sentinel -> sentinel + " names " + address(sentinel).replace('\n', ':') + "; its log: "
                        + Workspace.tail(sentinel.log()))
                .collect(Collectors.joining("\n"));
    }

    /** Ends all servers and Sentinels and removes their data. Idempotent. */
    @Override
    public void close() {
        Stopping.stopAll(started);
    }

    @Override
    public String toString() {
        return "Redis on " + servers + ", watched by " + sentinels;
    }
}
