package dev.fenceline.bench;

import org.redisson.Redisson;
import org.redisson.api.RLock;
import org.redisson.api.RedissonClient;
import org.redisson.config.Config;

/** Redisson with its defaults, with the watchdog that renews. */
final class RedissonContestant implements Contestant {

    private final Entrant entrant;
    private final RedissonClient client;

    RedissonContestant(Entrant entrant, String redis) {
        this.entrant = entrant;
        Config config = new Config();
        config.useSingleServer().setAddress(redis);
        this.client = Redisson.create(config);
    }

    @Override
    public Entrant entrant() {
        return entrant;
    }

    @Override
    public Mutex lock(String name) {
        RLock lock = switch (entrant) {
            case REDISSON -> client.getLock("redisson:" + name);
            case REDISSON_FENCED -> client.getFencedLock("redisson-fenced:" + name);
            case REDISSON_FAIR -> client.getFairLock("redisson-fair:" + name);
            default -> throw new IllegalStateException(entrant + " is no lock of Redisson.");
        };
        return () -> {
            lock.lockInterruptibly();
            return lock::unlock;
        };
    }

    @Override
    public void close() {
        client.shutdown();
    }
}
