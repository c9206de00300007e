package dev.fenceline.jdbc;

import dev.fenceline.testkit.EmbeddedServers;
import dev.fenceline.testkit.PostgresProcess;
import dev.fenceline.testkit.Servers;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** As {@code CrashTest#twoWritersThroughSeveralCrashesLoseNothingAndDoNothingTwice}, for {@code -Dtorture.seconds}. */
@Tag("torture")
class CrashTortureTest {

    private static final long SECONDS = Long.getLong("torture.seconds", 60);

    @Test
    void twoWritersThroughManyCrashesLoseNothingAndDoNothingTwice() throws Exception {
        try (EmbeddedServers servers = Servers.embedded()) {
            PostgresProcess server = servers.postgres(CrashRun.server());
            TestDatabase database = TestDatabase.createOn(server);
            Movements.createLog(database);
            long begun = System.nanoTime();
            try (CrashRun run = new CrashRun(server, database, 1)) {
                while (System.nanoTime() - begun < TimeUnit.SECONDS.toNanos(SECONDS)) {
                    run.crash();
                }
                run.finish();
                run.verify();
            }
        }
    }
}
