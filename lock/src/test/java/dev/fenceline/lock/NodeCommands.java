package dev.fenceline.lock;

import dev.fenceline.LockOptions;
import dev.fenceline.testkit.RedisServer;
import java.time.Duration;
import java.util.List;
import java.util.UUID;

/** The scripts of Redlock's nodes, one at a time, as a client or a network that does everything wrong might send them. */
record NodeCommands(LockOptions options) {

    /** What a client proposes that knows nothing of the node. */
    List<String> acquire(RedisServer node, UUID holder, long token) {
        return acquire(node, holder, token, 0);
    }

    List<String> acquire(RedisServer node, UUID holder, long token, long floor) {
        KeySpace keys = new KeySpace(options.keyPrefix());
        LockKey lock = Fixture.fenced(Fixture.ACCOUNT);
        return node.command(
                        "EVAL",
                        NodeScripts.STANDARD.acquire().source(),
                        "3",
                        keys.node(),
                        keys.lock(lock),
                        keys.floor(lock),
                        Incarnations.Sighting.NONE.words() + "10000000|0",
                        "0",
                        Integer.toString(keys.bucketOf(lock)),
                        LockValue.hex(holder),
                        "10000",
                        "1|host|test",
                        Long.toString(token),
                        "10000000",
                        Long.toString(floor),
                        "")
                .lines()
                .toList();
    }

    String release(RedisServer node, UUID holder, String newest, Duration keep) {
        return node.command(
                "EVAL",
                NodeScripts.STANDARD.release().source(),
                "1",
                new KeySpace(options.keyPrefix()).lock(Fixture.fenced(Fixture.ACCOUNT)),
                LockValue.hex(holder),
                newest,
                Long.toString(keep.toMillis()));
    }

    /** As a node says that it was never used, and is not one that lost its data. */
    void markAsNew(RedisServer node) {
        String unused = node.command(
                "EVAL",
                Script.load("redlock-first.lua").source(),
                "1",
                new KeySpace(options.keyPrefix()).node(),
                "MARK");
    }
}
