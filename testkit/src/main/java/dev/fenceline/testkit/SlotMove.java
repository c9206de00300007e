package dev.fenceline.testkit;

/**
 * A hash slot on its way from one master to another, in steps that a test takes one by one. Between them the source answers for
 * keys that it still has, and sends a client elsewhere ({@code ASK}) as soon as one key of a command is missing. There a
 * command of which some keys have not arrived is answered {@code TRYAGAIN}; by Redis 7 in some cases at the source already.
 *
 * <p><b>Thread-safety:</b> any thread, but one at a time.
 *
 * <p><b>Errors:</b> {@link IllegalStateException} with the answer of the node that refused a step.
 */
public final class SlotMove {

    private static final String KEYS_AT_ONCE = "100";
    private static final String TIMEOUT_MILLIS = "5000";

    private final RedisCluster cluster;
    private final int slot;
    private final LocalRedis from;
    private final LocalRedis to;

    SlotMove(RedisCluster cluster, int slot, LocalRedis from, LocalRedis to) {
        this.cluster = cluster;
        this.slot = slot;
        this.from = from;
        this.to = to;
    }

    void begin() {
        setSlot(to, "IMPORTING", cluster.id(from));
        setSlot(from, "MIGRATING", cluster.id(to));
    }

    /**
     * Returns the slot.
     *
     * @return 0 to 16383
     */
    public int slot() {
        return slot;
    }

    /**
     * Returns the master that has the slot until {@link #finish()}.
     *
     * @return a node
     */
    public RedisProcess from() {
        return from;
    }

    /**
     * Returns the master that gets it.
     *
     * @return a node
     */
    public RedisProcess to() {
        return to;
    }

    /**
     * Moves one key with its expiry. Nothing happens if there is no such key.
     *
     * @param key of this slot
     */
    public void moveKey(String key) {
        String[] where = {"MIGRATE", to.host(), Integer.toString(to.port()), key, "0", TIMEOUT_MILLIS};
        from.passphrase()
                .ifPresentOrElse(
                        password -> from.command(
                                where[0], where[1], where[2], where[3], where[4], where[5], "AUTH", password),
                        () -> from.command(where));
    }

    /** Moves all keys that the slot has now. A client may make new ones meanwhile, on the other side. */
    public void moveKeys() {
        for (String keys = someKeys(); !keys.isEmpty(); keys = someKeys()) {
            keys.lines().forEach(this::moveKey);
        }
    }

    private String someKeys() {
        return from.command("CLUSTER", "GETKEYSINSLOT", Integer.toString(slot), KEYS_AT_ONCE);
    }

    /** Moves what is left and gives the slot to its new master, on every master that runs. Waits until all nodes know. */
    public void finish() {
        moveKeys();
        String id = cluster.id(to);
        setSlot(to, "NODE", id); // first: if it fails here, the source still has the slot
        setSlot(from, "NODE", id);
        cluster.awaitOk();
    }

    /** Calls the move off. Keys that have moved stay where they are, out of reach, so a test moves none before. */
    public void cancel() {
        for (LocalRedis node : new LocalRedis[] {from, to}) {
            node.command("CLUSTER", "SETSLOT", Integer.toString(slot), "STABLE");
        }
    }

    private void setSlot(LocalRedis node, String what, String id) {
        node.command("CLUSTER", "SETSLOT", Integer.toString(slot), what, id);
    }
}
