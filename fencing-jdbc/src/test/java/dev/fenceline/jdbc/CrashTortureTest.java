package dev.fenceline.jdbc;

import dev.fenceline.testkit.EmbeddedServers;
import dev.fenceline.testkit.PostgresProcess;
import dev.fenceline.testkit.Servers;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * As {@code CrashTest#twoWritersThroughSeveralCrashesLoseNothingAndDoNothingTwice}, and {@code RowCrashTest}'s, for half of
 * {@code -Dtorture.seconds} each.
 */
@Tag("torture")
class CrashTortureTest {

    private static final long SECONDS = Long.getLong("torture.seconds", 60);

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void twoWritersThroughManyCrashesLoseNothingAndDoNothingTwice(boolean byRows) throws Exception {
        try (EmbeddedServers servers = Servers.embedded()) {
            PostgresProcess server = servers.postgres(CrashRun.server());
            TestDatabase database = TestDatabase.createOn(server);
            Movements.createLog(database);
            CrashWork.Rows.addMarks(database);
            long begun = System.nanoTime();
            try (CrashRun run = byRows ? CrashRun.ofRows(server, database, 1) : CrashRun.ofUnits(server, database, 1)) {
                while (System.nanoTime() - begun < TimeUnit.SECONDS.toNanos(SECONDS) / 2) {
                    run.crash();
                }
                run.finish();
                run.verify();
            }
        }
    }
}
