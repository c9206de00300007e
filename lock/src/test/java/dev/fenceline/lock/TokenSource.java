package dev.fenceline.lock;

import dev.fenceline.LockOptions;
import dev.fenceline.testkit.RedisServer;
import java.util.UUID;

/** Something that grants one lock again and again, each time releasing it: ours, and the folklore as a control. */
interface TokenSource {

    /** Grants the lock at a server, returns the token, and releases. */
    long next(RedisServer at);

    /** As if the server's clock had been set back by the ten seconds that are tolerated. */
    default void setClockBack(RedisServer at) {}

    /** The production script and client, over a new connection for each grant. */
    static TokenSource fenceline(LockOptions options) {
        return new TokenSource() {
            @Override
            public long next(RedisServer redis) {
                try (Fixture.Wire wire = new Fixture.Wire(redis, options)) {
                    return wire.nextToken(Fixture.ACCOUNT);
                } catch (SendFailure e) {
                    throw new AssertionError(e);
                }
            }

            @Override
            public void setClockBack(RedisServer redis) {
                String counter = new KeySpace(options.keyPrefix()).counter(Fixture.fenced(Fixture.ACCOUNT));
                redis.command("SET", counter, Long.toString(Fixture.serverMicros(redis) + 10_000_000));
            }
        };
    }

    /** A counter and INCR. */
    static TokenSource naive() {
        String script = Script.load("naive.lua").source();
        return redis -> {
            String answer = redis.command(
                    "EVAL", script, "2", "lock", "counter", UUID.randomUUID().toString(), "10000");
            redis.command("DEL", "lock");
            return Long.parseLong(answer);
        };
    }
}
