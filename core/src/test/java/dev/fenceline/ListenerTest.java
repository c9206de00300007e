package dev.fenceline;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.UUID;
import java.util.logging.Handler;
import java.util.logging.Level;
import java.util.logging.LogRecord;
import java.util.logging.Logger;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

class ListenerTest {

    private static final LockName ACCOUNT = LockName.of("account", 42);
    private static final FencelineEvent LOST =
            new FencelineEvent.LeaseLost(ACCOUNT, LeaseLostException.Reason.DEADLINE_PASSED, Duration.ofSeconds(12));

    @Test
    void aFaultyListenerHarmsNeitherTheCallerNorTheNextListener() throws Exception {
        List<FencelineEvent> heard = new ArrayList<>();
        List<Throwable> reported = new ArrayList<>();
        FencelineListener faulty = event -> {
            throw new IllegalStateException("counter is broken");
        };
        Thread thread = new Thread(() -> faulty.and(heard::add).tell(LOST));
        thread.setUncaughtExceptionHandler((t, e) -> reported.add(e));
        thread.start();
        thread.join();
        assertThat(heard).containsExactly(LOST);
        assertThat(reported).singleElement().satisfies(e -> assertThat(e).hasMessage("counter is broken"));
    }

    @Test
    void theLogCarriesStableCodesAndWarnsOfARefusedStaleWriter() {
        FencingToken old = new FencingToken(ACCOUNT, 1_000_000, new UUID(0, 1));
        FencingToken newer = new FencingToken(ACCOUNT, 13_400_000, new UUID(0, 2));
        List<LogRecord> records = logged(
                new FencelineEvent.StaleRefused("guard", old, newer),
                LOST,
                new FencelineEvent.AcquireStarted(ACCOUNT),
                new FencelineEvent.AcquireEnded(ACCOUNT, FencelineEvent.AcquireOutcome.ACQUIRED, Duration.ofMillis(1)));
        assertThat(records).hasSize(2).allSatisfy(r -> assertThat(r.getLevel()).isEqualTo(Level.WARNING));
        assertThat(records.get(0).getMessage())
                .startsWith("FENCELINE-101 stale writer refused by guard")
                .contains("is older by 12.4 s than");
        assertThat(records.get(1).getMessage()).startsWith("FENCELINE-102 lease of 'account:42' lost after 12 s");
    }

    /** After a forced release the server knows no more than after a lease that ran out; so all that it can be is said. */
    @Test
    void theLogSaysHowALeaseMayHaveBeenLostAndWhatToDo() {
        assertThat(logged(new FencelineEvent.LeaseLost(
                        ACCOUNT, LeaseLostException.Reason.REFUSED, Duration.ofSeconds(12))))
                .singleElement()
                .extracting(LogRecord::getMessage)
                .isEqualTo(
                        "FENCELINE-102 lease of 'account:42' lost after 12 s (REFUSED): the lock server no longer knows it: it ran out,"
                                + " an operator released it by force, somebody else has the lock, or the server lost its data. Work under it that is"
                                + " not fenced may now happen twice, so stop it; fenced work is refused as soon as a newer holder has claimed");
        for (LeaseLostException.Reason reason : LeaseLostException.Reason.values()) {
            assertThat(logged(new FencelineEvent.LeaseLost(ACCOUNT, reason, Duration.ofSeconds(12))))
                    .singleElement()
                    .extracting(LogRecord::getMessage)
                    .asString()
                    .startsWith("FENCELINE-102 lease of 'account:42' lost after 12 s (" + reason + "): ")
                    .contains("stop it");
        }
    }

    @Test
    void theLogNamesTheOperatorWhoHasRaisedAMark() {
        FencingToken old = new FencingToken(ACCOUNT, 1_000_000, new UUID(0, 1));
        FencingToken raised =
                new FencingToken(ACCOUNT, 13_400_000, UUID.fromString("c3000000-1234-8abc-9abc-726169736564"));
        assertThat(logged(new FencelineEvent.StaleRefused("guard", old, raised)))
                .singleElement()
                .extracting(LogRecord::getMessage)
                .asString()
                .endsWith("/c3000000 of 'account:42', to which an operator has raised the mark");
    }

    @Test
    void theLogDoesNotCallATokenOlderWhoseNumberAnotherHolderHasToo() {
        FencingToken ours = new FencingToken(ACCOUNT, 1_000_000, new UUID(1, 1));
        FencingToken theirs = new FencingToken(ACCOUNT, 1_000_000, new UUID(2, 2));
        assertThat(logged(new FencelineEvent.StaleRefused("guard", ours, theirs)))
                .singleElement()
                .extracting(LogRecord::getMessage)
                .isEqualTo("FENCELINE-101 stale writer refused by guard: token " + ours + " has the number of " + theirs
                        + ", which another holder has claimed here first");
    }

    @Test
    void theLogWarnsOfWorkThatIsSkippedOrRunsWithoutItsLock() {
        BackendUnavailableException down = new BackendUnavailableException("no answer", null);
        List<LogRecord> records = logged(
                new FencelineEvent.OutageBypassed(ACCOUNT, WhenUnavailable.RUN_ANYWAY, down),
                new FencelineEvent.OutageBypassed(ACCOUNT, WhenUnavailable.SKIP, down));
        assertThat(records).hasSize(2).allSatisfy(r -> assertThat(r.getLevel()).isEqualTo(Level.WARNING));
        assertThat(records.get(0).getMessage())
                .startsWith("FENCELINE-107 work under 'account:42' runs without the lock")
                .contains("no answer");
        assertThat(records.get(1).getMessage()).startsWith("FENCELINE-107 work under 'account:42' is skipped");
    }

    @Test
    void aServerThatIsAnotherOneNowIsNoAlarm() {
        assertThat(logged(new FencelineEvent.IncarnationChanged("Redis at cache-1:6379", "4f0c|9b1e")))
                .singleElement()
                .satisfies(r -> {
                    assertThat(r.getLevel()).isEqualTo(Level.INFO);
                    assertThat(r.getMessage())
                            .isEqualTo(
                                    "FENCELINE-104 Redis at cache-1:6379 was restarted, was promoted or lost its data since it"
                                            + " was last seen; new tokens are above all that its clock let it grant, and nothing is to be done. It is"
                                            + " 4f0c|9b1e now");
                });
    }

    /** Whoever is woken by a code looks it up. */
    @Test
    void thePageForOperatorsSaysOfEachCodeWhatToDo() throws IOException {
        Set<String> logged = codes(Path.of("src/main/java/dev/fenceline/LoggingListener.java"), "\"(FENCELINE-\\d+) ");
        assertThat(logged).hasSizeGreaterThan(8);
        assertThat(codes(Path.of("../docs/operations.md"), "\n\\| `(FENCELINE-\\d+)` \\|"))
                .isEqualTo(logged);
    }

    private static Set<String> codes(Path file, String pattern) throws IOException {
        return Pattern.compile(pattern)
                .matcher(Files.readString(file))
                .results()
                .map(code -> code.group(1))
                .collect(Collectors.toCollection(TreeSet::new));
    }

    @Test
    void theLogWarnsOfASessionThatWasEnded() {
        FencingToken token = new FencingToken(ACCOUNT, 13_400_000, new UUID(2, 2));
        List<LogRecord> records = logged(new FencelineEvent.BlockerEvicted("guard", token, 4711, "batch"));
        assertThat(records).singleElement().satisfies(r -> {
            assertThat(r.getLevel()).isEqualTo(Level.WARNING);
            assertThat(r.getMessage())
                    .isEqualTo("FENCELINE-108 session with pid 4711, application_name 'batch' ended: it kept token "
                            + token + " out of guard");
        });
    }

    private static List<LogRecord> logged(FencelineEvent... events) {
        List<LogRecord> records = new ArrayList<>();
        Handler handler = new Handler() {
            @Override
            public void publish(LogRecord record) {
                records.add(record);
            }

            @Override
            public void flush() {}

            @Override
            public void close() {}
        };
        Logger logger = Logger.getLogger("dev.fenceline");
        logger.setUseParentHandlers(false);
        logger.addHandler(handler);
        try {
            LoggingListener log = new LoggingListener();
            for (FencelineEvent event : events) {
                log.on(event);
            }
        } finally {
            logger.removeHandler(handler);
            logger.setUseParentHandlers(true);
        }
        return records;
    }
}
