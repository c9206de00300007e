package dev.fenceline.bench;

import dev.fenceline.FencedLock;
import dev.fenceline.FencingToken;
import dev.fenceline.LockName;
import dev.fenceline.LockOptions;
import dev.fenceline.Locks;
import dev.fenceline.lock.RedisLocks;
import dev.fenceline.testkit.EmbeddedServers;
import dev.fenceline.testkit.RedisSpec;
import dev.fenceline.testkit.Servers;
import java.time.Duration;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;

/** The steps that every use of a lock takes, one by one. */
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
public class HotPaths {

    /** Creates the benchmarks; JMH does it. */
    public HotPaths() {}

    /** Names and tokens, which need no server. */
    @State(Scope.Benchmark)
    public static class Values {

        private final String text = LockName.of("account", 42, "eu-west").toString();
        private final FencingToken token =
                new FencingToken(LockName.of("account", 42), 1_764_412_345_678_901L, new UUID(1, 2));
        private final String encoded = token.encode();

        /** Creates the state; JMH does it. */
        public Values() {}
    }

    /** Locks on a server of their own. */
    @State(Scope.Benchmark)
    public static class Server {

        private final EmbeddedServers servers = Servers.embedded();
        private final Locks locks = RedisLocks.connect(
                servers.redis(RedisSpec.master()).uri(),
                LockOptions.builder().masterClockSkew(Duration.ZERO).build());
        private final FencedLock lock = locks.fenced(LockName.of("account", 42));

        /** Creates the state; JMH does it. */
        public Server() {}

        /** Has the server load the scripts. */
        @Setup
        public void warm() throws InterruptedException {
            lock.acquire().close();
        }

        /** Stops the server. */
        @TearDown
        public void stop() {
            locks.close();
            servers.close();
        }
    }

    /** Two round trips with all that is around them. */
    @Benchmark
    public long acquireAndRelease(Server server) throws InterruptedException {
        try (var lease = server.lock.acquire()) {
            return lease.token().value();
        }
    }

    /** A name from its parts, once for each use of a lock. */
    @Benchmark
    public LockName nameOfParts() {
        return LockName.of("account", 42, "eu-west");
    }

    /** A name from its text. */
    @Benchmark
    public LockName nameParsed(Values values) {
        return LockName.parse(values.text);
    }

    /** A token for a header. */
    @Benchmark
    public String tokenEncoded(Values values) {
        return values.token.encode();
    }

    /** A token from a header. */
    @Benchmark
    public FencingToken tokenParsed(Values values) {
        return FencingToken.parse(values.encoded);
    }
}
