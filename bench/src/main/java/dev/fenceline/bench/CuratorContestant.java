package dev.fenceline.bench;

import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.framework.recipes.locks.InterProcessMutex;
import org.apache.curator.retry.ExponentialBackoffRetry;

/** Curator's mutex over ZooKeeper: another server, so compare its hand-overs, not its round trips. */
final class CuratorContestant implements Contestant {

    private final CuratorFramework client;

    CuratorContestant(String zooKeeper) {
        this.client = CuratorFrameworkFactory.newClient(zooKeeper, new ExponentialBackoffRetry(100, 3));
        client.start();
    }

    @Override
    public Entrant entrant() {
        return Entrant.CURATOR;
    }

    @Override
    public Mutex lock(String name) {
        InterProcessMutex mutex = new InterProcessMutex(client, "/bench/" + name);
        return () -> {
            mutex.acquire();
            return mutex::release;
        };
    }

    @Override
    public void close() {
        client.close();
    }
}
