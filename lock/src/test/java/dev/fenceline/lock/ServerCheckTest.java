package dev.fenceline.lock;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.fenceline.BackendMisconfiguredException;
import dev.fenceline.LockOptions;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What a server says of itself, where no server at hand says it. */
class ServerCheckTest {

    private static final String VERSION = "redis_version:7.0.15\r\n";
    private static final String MODE = "redis_mode:standalone\r\n";
    private static final String MASTER = "role:master\r\n";
    private static final String POLICY = "maxmemory_policy:noeviction\r\n";

    private final ServerCheck check = ServerCheck.standalone("Redis at a:1", LockOptions.defaults());

    @Test
    void aServerThatSaysAllOfItPasses() {
        check.judge(List.of(VERSION + MODE, MASTER, POLICY), Set.of());
    }

    @ParameterizedTest
    @ValueSource(strings = {"cluster", "sentinel"})
    void anotherModeIsRefusedByName(String mode) {
        assertRefused(
                List.of(VERSION + "redis_mode:" + mode + "\r\n", MASTER, POLICY),
                "Redis at a:1 runs in mode '" + mode + "' (redis_mode), not 'standalone'");
    }

    @Test
    void aServerThatDoesNotTellItsPolicyIsRefusedWithoutAPlaceholder() {
        assertRefused(
                List.of(VERSION + MODE, MASTER, ""), "Redis at a:1 does not tell maxmemory_policy in its INFO memory");
    }

    @Test
    void aServerThatDoesNotTellItsVersionIsRefusedWithoutAPlaceholder() {
        assertRefused(List.of(MODE, MASTER, POLICY), "Redis at a:1 does not tell redis_version in its INFO server");
    }

    @Test
    void anOldServerIsRefused() {
        assertRefused(
                List.of("redis_version:6.0.20\r\n" + MODE, MASTER, POLICY),
                "Redis at a:1 is version '6.0.20' (redis_version); 6.2 is the oldest");
    }

    private void assertRefused(List<String> reply, String message) {
        assertThatThrownBy(() -> check.judge(reply, Set.of()))
                .isInstanceOf(BackendMisconfiguredException.class)
                .hasMessageContaining(message);
    }
}
