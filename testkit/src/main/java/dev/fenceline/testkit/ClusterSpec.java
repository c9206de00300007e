package dev.fenceline.testkit;

/**
 * Which Redis Cluster a test needs: three masters without replicas, unless said otherwise.
 *
 * <p><b>Thread-safety:</b> immutable.
 *
 * @param node what each node is like
 * @param masters how many there are, at least three, or none could fail over
 * @param replicas how many each master has
 */
public record ClusterSpec(RedisSpec node, int masters, int replicas) {

    /**
     * Checks the numbers.
     *
     * @throws IllegalArgumentException when there are fewer than three masters or replicas below zero, or when the node is a
     *     replica already
     */
    public ClusterSpec {
        if (masters < 3 || replicas < 0) {
            throw new IllegalArgumentException(
                    "A Redis Cluster has at least three masters, and no fewer than zero replicas" + " each, not "
                            + masters + " and " + replicas + ".");
        }
        if (node.replicated().isPresent()) {
            throw new IllegalArgumentException("Nodes replicate each other; " + node + " has another master.");
        }
    }

    /**
     * Three masters without replicas, persistence and password.
     *
     * @return the default
     */
    public static ClusterSpec threeMasters() {
        return new ClusterSpec(RedisSpec.master(), 3, 0);
    }

    /**
     * Chooses what each node is like.
     *
     * @param wanted persistence, password and settings
     * @return a changed copy
     */
    public ClusterSpec node(RedisSpec wanted) {
        return new ClusterSpec(wanted, masters, replicas);
    }

    /**
     * Chooses the number of masters.
     *
     * @param wanted at least three
     * @return a changed copy
     */
    public ClusterSpec masters(int wanted) {
        return new ClusterSpec(node, wanted, replicas);
    }

    /**
     * Chooses how many replicas each master has, so that it can fail over.
     *
     * @param wanted zero or more
     * @return a changed copy
     */
    public ClusterSpec replicasEach(int wanted) {
        return new ClusterSpec(node, masters, wanted);
    }
}
