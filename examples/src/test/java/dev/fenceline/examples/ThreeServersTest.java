package dev.fenceline.examples;

import static org.assertj.core.api.Assertions.assertThat;

import dev.fenceline.LockName;
import dev.fenceline.lock.Redlock;
import dev.fenceline.testkit.EmbeddedServers;
import dev.fenceline.testkit.RedisSpec;
import dev.fenceline.testkit.Servers;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@Tag("server")
class ThreeServersTest {

    @Test
    void tokensRiseFromOneConnectionToTheNext() throws Exception {
        LockName name = LockName.of("report", 2026);
        try (EmbeddedServers servers = Servers.embedded()) {
            String one = servers.redis(RedisSpec.master()).uri();
            String two = servers.redis(RedisSpec.master()).uri();
            String three = servers.redis(RedisSpec.master()).uri();
            var unused = Redlock.of(one, two, three).firstStart();
            long first = ThreeServers.tokenOf(name, one, two, three);
            assertThat(ThreeServers.tokenOf(name, one, two, three)).isGreaterThan(first);
        }
    }
}
