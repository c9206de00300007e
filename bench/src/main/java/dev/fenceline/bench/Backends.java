package dev.fenceline.bench;

/**
 * Where the contestants connect to.
 *
 * @param redis a URI such as {@code redis://localhost:6379}
 * @param zooKeeper host and port; only Curator's contestant uses it
 */
record Backends(String redis, String zooKeeper) {

    /** Opens one contestant. */
    Contestant open(Entrant entrant) throws Exception {
        return switch (entrant) {
            case PING -> new PingContestant(redis);
            case HAND -> new HandContestant(redis);
            case FENCED, EFFICIENCY -> new FencelineContestant(entrant, redis);
            case REDISSON, REDISSON_FENCED, REDISSON_FAIR -> new RedissonContestant(entrant, redis);
            case SPRING -> new SpringContestant(redis);
            case SHEDLOCK -> new ShedLockContestant(redis);
            case CURATOR -> new CuratorContestant(zooKeeper);
        };
    }
}
