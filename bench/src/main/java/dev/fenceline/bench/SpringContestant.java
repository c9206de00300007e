package dev.fenceline.bench;

import io.lettuce.core.RedisURI;
import java.util.concurrent.locks.Lock;
import org.springframework.data.redis.connection.RedisStandaloneConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;
import org.springframework.integration.redis.util.RedisLockRegistry;

/**
 * Spring Integration's registry over Lettuce; with publish-subscribe, since the other mode asks every 100 ms. It does not renew: a
 * lock ends after the default of 60 s.
 */
final class SpringContestant implements Contestant {

    private final LettuceConnectionFactory connections;
    private final RedisLockRegistry registry;

    SpringContestant(String redis) {
        this.connections = connections(redis);
        this.registry = new RedisLockRegistry(connections, "spring");
        registry.setRedisLockType(RedisLockRegistry.RedisLockType.PUB_SUB_LOCK);
    }

    /** One started factory, whose commands share one connection. */
    static LettuceConnectionFactory connections(String redis) {
        RedisURI uri = RedisURI.create(redis);
        LettuceConnectionFactory factory =
                new LettuceConnectionFactory(new RedisStandaloneConfiguration(uri.getHost(), uri.getPort()));
        factory.afterPropertiesSet();
        factory.start();
        return factory;
    }

    @Override
    public Entrant entrant() {
        return Entrant.SPRING;
    }

    @Override
    public Mutex lock(String name) {
        Lock lock = registry.obtain(name);
        return () -> {
            lock.lockInterruptibly();
            return lock::unlock;
        };
    }

    @Override
    public void close() {
        registry.destroy();
        connections.destroy();
    }
}
