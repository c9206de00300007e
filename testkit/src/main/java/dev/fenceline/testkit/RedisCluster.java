package dev.fenceline.testkit;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * A real Redis Cluster: masters that share the hash slots, each with its replicas, which take over two to four seconds after
 * their master is gone.
 *
 * <p><b>Blocking:</b> every method that awaits throws {@link IllegalStateException} after 30 s; the message holds what the
 * nodes said.
 *
 * <p><b>Thread-safety:</b> any thread.
 */
public final class RedisCluster implements AutoCloseable {

    /** How many hash slots every Cluster has. */
    public static final int SLOTS = 16_384;

    private static final Duration LIMIT = Duration.ofSeconds(30);
    private static final Map<String, String> SETTINGS =
            Map.of("cluster-enabled", "yes", "cluster-config-file", "nodes.conf", "cluster-node-timeout", "2000");

    private final ClusterSpec spec;
    private final List<LocalRedis> nodes = new ArrayList<>();
    private final Deque<AutoCloseable> started = new ArrayDeque<>();

    private RedisCluster(ClusterSpec spec) {
        this.spec = spec;
    }

    static RedisCluster start(ClusterSpec spec) {
        RedisCluster cluster = new RedisCluster(spec);
        try {
            cluster.start();
            return cluster;
        } catch (IllegalStateException e) {
            cluster.close();
            throw e;
        }
    }

    private void start() {
        RedisSpec node = spec.node();
        for (Map.Entry<String, String> setting : SETTINGS.entrySet()) {
            if (!node.settings().containsKey(setting.getKey())) {
                node = node.setting(setting.getKey(), setting.getValue());
            }
        }
        int size = spec.masters() * (1 + spec.replicas());
        for (int i = 0; i < size; i++) {
            LocalRedis redis = LocalRedis.start(node);
            started.push(redis);
            nodes.add(redis);
        }
        meet();
        for (int i = spec.masters(); i < size; i++) {
            nodes.get(i).command("CLUSTER", "REPLICATE", id(nodes.get(i % spec.masters())));
        }
        awaitOk();
    }

    private void meet() {
        for (int i = 0; i < nodes.size(); i++) {
            LocalRedis node = nodes.get(i);
            node.command("CLUSTER", "SET-CONFIG-EPOCH", Integer.toString(i + 1));
            if (i < spec.masters()) {
                node.command(addSlots(SLOTS * i / spec.masters(), SLOTS * (i + 1) / spec.masters()));
            }
            for (LocalRedis other : nodes.subList(0, i)) {
                // Each with each: gossip would take some seconds to spread the word.
                node.command("CLUSTER", "MEET", other.host(), Integer.toString(other.port()));
            }
        }
        Polling.until(
                "each node of the Cluster knows all others",
                LIMIT,
                () -> nodes.stream()
                        .allMatch(node -> view(node).filter(this::complete).isPresent()),
                this::seen);
    }

    private boolean complete(ClusterView view) {
        return view.nodes().size() == nodes.size()
                && view.nodes().stream().noneMatch(node -> node.flags().contains("handshake"));
    }

    private static String[] addSlots(int from, int to) {
        Stream<String> slots =
                Stream.iterate(from, slot -> slot + 1).limit(to - from).map(slot -> Integer.toString(slot));
        return Stream.concat(Stream.of("CLUSTER", "ADDSLOTS"), slots).toArray(String[]::new);
    }

    /**
     * Returns where to connect to: every node, as clients read it.
     *
     * @return {@code redis://host:port} for each node, with the password in it if one was set
     */
    public List<String> uris() {
        return nodes.stream().map(LocalRedis::uri).toList();
    }

    /**
     * Returns all nodes, whatever they are now, and whether or not they run.
     *
     * @return the first masters, then the first replicas
     */
    public List<RedisProcess> nodes() {
        return List.copyOf(nodes);
    }

    /**
     * Returns the running nodes that serve slots.
     *
     * @return masters, in the order of {@link #nodes()}
     */
    public List<RedisProcess> masters() {
        return nodes.stream()
                .filter(node -> own(node)
                        .filter(me -> me.isMaster() && !me.slots().isEmpty())
                        .isPresent())
                .<RedisProcess>map(node -> node)
                .toList();
    }

    /**
     * Returns the running replicas of a node.
     *
     * @param master a node
     * @return replicas, none if it is no master now
     */
    public List<RedisProcess> replicasOf(RedisProcess master) {
        String id = id(local(master));
        return nodes.stream()
                .filter(node -> own(node).filter(me -> me.master().equals(id)).isPresent())
                .<RedisProcess>map(node -> node)
                .toList();
    }

    /**
     * Asks the Cluster for the slot of a key.
     *
     * @param key with or without a hash tag
     * @return 0 to 16383
     */
    public int slotOf(String key) {
        return Integer.parseInt(awake().get(0).command("CLUSTER", "KEYSLOT", key));
    }

    /**
     * Returns the node that serves a slot now.
     *
     * @param slot 0 to 16383
     * @return a running master
     * @throws IllegalStateException when no running node serves it
     */
    public RedisProcess masterOf(int slot) {
        return awake().stream()
                // Two may claim it for a moment; that with the greater epoch wins.
                .filter(node ->
                        own(node).filter(me -> me.isMaster() && me.owns(slot)).isPresent())
                .max(Comparator.comparing(
                        node -> own(node).map(ClusterView.Node::epoch).orElse(0L)))
                .orElseThrow(() -> new IllegalStateException("No running node serves slot " + slot + ". " + seen()));
    }

    /**
     * Returns the node that serves a key now.
     *
     * @param key with or without a hash tag
     * @return a running master
     * @throws IllegalStateException when no running node serves it
     */
    public RedisProcess masterOf(String key) {
        return masterOf(slotOf(key));
    }

    /**
     * Waits until all running nodes agree that running masters serve all slots, and each running replica is linked to its
     * master. After a kill or a pause this waits for the failover, after a restart for the return as a replica.
     */
    public void awaitOk() {
        Polling.until("the Cluster is in order", LIMIT, this::inOrder, this::seen);
    }

    private boolean inOrder() {
        List<LocalRedis> awake = awake();
        Set<Integer> ports = awake.stream().map(RedisDaemon::port).collect(Collectors.toSet());
        Set<Map<Integer, List<ClusterView.SlotRange>>> views = awake.stream()
                .map(node -> view(node).map(ClusterView::serving).orElse(Map.of()))
                .collect(Collectors.toSet());
        if (views.size() != 1) {
            return false;
        }
        Map<Integer, List<ClusterView.SlotRange>> serving = views.iterator().next();
        int served = serving.values().stream()
                .flatMap(List::stream)
                .mapToInt(ClusterView.SlotRange::size)
                .sum();
        return served == SLOTS
                && ports.containsAll(serving.keySet())
                && awake.stream().allMatch(RedisCluster::well);
    }

    private static boolean well(LocalRedis node) {
        return node.ask("CLUSTER", "INFO")
                        .filter(info -> info.contains("cluster_state:ok"))
                        .isPresent()
                && node.ask("INFO", "replication")
                        .filter(info -> info.contains("role:master") || info.contains("master_link_status:up"))
                        .isPresent();
    }

    /**
     * Orders a failover while the master runs, as an operator does: the replica waits for the master's last write, so nothing is
     * lost. Waits until all know.
     *
     * @param master a running master with a running replica
     * @return the replica, which is the master now
     */
    public RedisProcess failover(RedisProcess master) {
        awaitOk();
        RedisProcess replica = replicasOf(master).stream()
                .findFirst()
                .orElseThrow(() -> new IllegalStateException(master + " has no running replica. " + seen()));
        replica.command("CLUSTER", "FAILOVER");
        return awaitTakeOver(master, replica);
    }

    private RedisProcess awaitTakeOver(RedisProcess master, RedisProcess replica) {
        Polling.until(
                replica + " takes over from " + master,
                LIMIT,
                () -> own(local(replica)).filter(ClusterView.Node::isMaster).isPresent()
                        && own(local(master)).filter(me -> !me.isMaster()).isPresent(),
                this::seen);
        awaitOk();
        return replica;
    }

    /**
     * Begins to move a slot: from now on its master sends clients elsewhere for keys that it does not have.
     *
     * @param slot 0 to 16383
     * @param to a master that is to have it
     * @return the move, to be finished
     */
    public SlotMove moveSlot(int slot, RedisProcess to) {
        LocalRedis from = local(masterOf(slot));
        if (from.port() == to.port()) {
            throw new IllegalStateException("Slot " + slot + " is not moved: " + to + " has it already.");
        }
        SlotMove move = new SlotMove(this, slot, from, local(to));
        move.begin();
        return move;
    }

    String id(LocalRedis node) {
        // Also of one that does not run: any other knows it.
        return awake().stream()
                .flatMap(other -> view(other).flatMap(view -> view.at(node.port())).stream())
                .map(ClusterView.Node::id)
                .findFirst()
                .orElseThrow(() -> new IllegalStateException("No running node knows " + node + ". " + seen()));
    }

    private LocalRedis local(RedisProcess node) {
        return nodes.stream()
                .filter(mine -> mine.port() == node.port())
                .findFirst()
                .orElseThrow(() -> new IllegalStateException(node + " is no node of this Cluster."));
    }

    private List<LocalRedis> awake() {
        List<LocalRedis> awake = nodes.stream().filter(RedisDaemon::awake).toList();
        if (awake.isEmpty()) {
            throw new IllegalStateException("No node of the Cluster runs.");
        }
        return awake;
    }

    /** What a node says of itself, nothing if it does not run. */
    private static Optional<ClusterView.Node> own(LocalRedis node) {
        return node.awake() ? view(node).map(ClusterView::myself) : Optional.empty();
    }

    private static Optional<ClusterView> view(LocalRedis node) {
        return node.ask("CLUSTER", "NODES").map(ClusterView::parse);
    }

    private String seen() {
        return nodes.stream()
                .filter(RedisDaemon::awake)
                .map(node -> node + " says " + node.ask("CLUSTER", "NODES").orElse("nothing") + "\n"
                        + node.ask("CLUSTER", "INFO").orElse(""))
                .collect(Collectors.joining("\n"));
    }

    /** Ends all nodes and removes their data. Idempotent. */
    @Override
    public void close() {
        Stopping.stopAll(started);
    }

    @Override
    public String toString() {
        return "Redis Cluster of " + nodes;
    }
}
