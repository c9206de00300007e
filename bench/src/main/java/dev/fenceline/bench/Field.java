package dev.fenceline.bench;

import dev.fenceline.testkit.EmbeddedServers;
import dev.fenceline.testkit.RedisProcess;
import dev.fenceline.testkit.RedisSpec;
import dev.fenceline.testkit.Servers;
import java.io.IOException;
import java.util.Collection;
import java.util.EnumMap;
import java.util.Map;
import org.apache.curator.test.TestingServer;
import org.jspecify.annotations.Nullable;

/** One Redis of its own for each scenario, a ZooKeeper if somebody asks for it, and the contestants that are connected to them. */
final class Field implements AutoCloseable {

    private final EmbeddedServers servers = Servers.embedded();
    private final RedisProcess redis;
    private final @Nullable TestingServer zooKeeper;
    private final Map<Entrant, Contestant> open = new EnumMap<>(Entrant.class);

    Field(Collection<Entrant> entrants) throws Exception {
        // Redis keeps nothing on disk here, so ZooKeeper need not wait for the disk either.
        System.setProperty("zookeeper.forceSync", "no");
        this.redis = servers.redis(RedisSpec.master());
        this.zooKeeper = entrants.contains(Entrant.CURATOR) ? new TestingServer(true) : null;
    }

    RedisProcess redis() {
        return redis;
    }

    Backends backends() {
        return new Backends(redis.uri(), zooKeeper == null ? "none" : zooKeeper.getConnectString());
    }

    /** Connected once and kept. */
    Contestant contestant(Entrant entrant) throws Exception {
        Contestant known = open.get(entrant);
        if (known == null) {
            known = backends().open(entrant);
            open.put(entrant, known);
        }
        return known;
    }

    @Override
    public void close() throws IOException {
        for (Contestant contestant : open.values()) {
            contestant.close();
        }
        servers.close();
        if (zooKeeper != null) {
            zooKeeper.close();
        }
    }
}
