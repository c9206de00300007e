package dev.fenceline.verification.torture;

import static org.assertj.core.api.Assertions.assertThat;

import dev.fenceline.testkit.EmbeddedServers;
import dev.fenceline.testkit.RedisProcess;
import dev.fenceline.testkit.RedisSpec;
import dev.fenceline.testkit.Servers;
import dev.fenceline.verification.torture.Journal.Grant;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** The control of the torture runs: the folklore, a token from INCR, on a server that forgets, is caught by the same check. */
@Tag("server")
class RepeatedTokenTest {

    @Test
    void aCounterThatIsLostWithItsServerRepeatsTokensAndTheCheckSeesIt() {
        try (EmbeddedServers servers = Servers.embedded()) {
            RedisProcess redis = servers.redis(RedisSpec.master());
            List<Grant> grants = new ArrayList<>(List.of(incremented(redis), incremented(redis)));
            assertThat(violations(grants)).as("before the server forgets").isEmpty();
            redis.kill();
            redis.restart();
            grants.add(incremented(redis));
            assertThat(violations(grants))
                    .anyMatch(violation -> violation.startsWith("repeated on 'x': token 1 "))
                    .anyMatch(violation -> violation.startsWith("out of order on 'x': token 2 "));
        }
    }

    private static Grant incremented(RedisProcess redis) {
        long began = System.nanoTime();
        long value = Long.parseLong(redis.command("INCR", "counter"));
        long granted = System.nanoTime();
        return new Grant("naive", "x", value, UUID.randomUUID().toString(), began, granted, granted, granted);
    }

    private static List<String> violations(List<Grant> grants) {
        Duration minute = Duration.ofMinutes(1);
        return JournalCheck.violations(
                new Journal(grants, List.of(), List.of()),
                List.of(),
                new JournalCheck.Bounds(
                        minute, minute, minute, minute, minute, new CalmCheck.Bounds(100, minute, minute, 100)));
    }
}
