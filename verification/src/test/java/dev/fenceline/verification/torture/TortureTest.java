package dev.fenceline.verification.torture;

import dev.fenceline.testkit.EmbeddedServers;
import dev.fenceline.testkit.Servers;
import java.nio.file.Path;
import java.time.Duration;
import java.util.function.Function;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Every topology through every fault: {@code mvn verify -Ptorture}, one minute each unless {@code -Dtorture.seconds} says
 * otherwise. {@link RepeatedTokenTest} and {@link JournalCheckTest} show that the check sees what it looks for.
 */
@Tag("torture")
class TortureTest {

    private static final Duration LENGTH = Duration.ofSeconds(Long.getLong("torture.seconds", 60));

    @TempDir
    private Path directory;

    @Test
    void oneServerThroughEveryFault() {
        torture(SingleServer::new);
    }

    @Test
    void aMasterUnderSentinelThroughEveryFault() {
        torture(WatchedServers::new);
    }

    @Test
    void aClusterThroughEveryFault() {
        torture(ClusterNodes::new);
    }

    @Test
    void independentMastersThroughEveryFault() {
        torture(IndependentMasters::new);
    }

    private void torture(Function<EmbeddedServers, Deployment> topology) {
        try (EmbeddedServers servers = Servers.embedded();
                TortureRun run = new TortureRun(topology.apply(servers), directory)) {
            run.run(LENGTH);
            run.verify();
            run.verifyNothingIsLeft();
        }
    }
}
