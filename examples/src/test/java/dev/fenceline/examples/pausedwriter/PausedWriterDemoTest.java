package dev.fenceline.examples.pausedwriter;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import javax.sql.DataSource;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class PausedWriterDemoTest {

    private static final Pattern PROCESS = Pattern.compile("is process (\\d+)");

    private final ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    private final PrintStream out = new PrintStream(bytes, true, StandardCharsets.UTF_8);

    @Test
    @Tag("server")
    void theControlsLoseMoneyAndTheFenceDoesNot(@TempDir Path target) throws Exception {
        Summary summary = new Conductor(new Story(out), target).conduct();

        assertThat(summary.complaints()).isEmpty();
        RunResult noCheck = summary.of(Mode.NO_CHECK);
        assertThat(noCheck.lostUpdates()).isEqualTo(2);
        assertThat(noCheck.refused()).isZero();
        assertThat(noCheck.errors()).hasSize(2);
        RunResult notLower = summary.of(Mode.NOT_LOWER);
        assertThat(notLower.lostUpdates()).isEqualTo(1);
        assertThat(notLower.refusedWhileStopped()).isEqualTo(1);
        assertThat(notLower.errors()).hasSize(1);
        RunResult fenced = summary.of(Mode.FENCED);
        assertThat(fenced.lostUpdates()).isZero();
        assertThat(fenced.refusedWhileStopped()).isEqualTo(2);
        assertThat(fenced.errors()).isEmpty();
        assertThat(summary.runs()).allSatisfy(run -> assertThat(run.bookings()).isEqualTo(4_000));

        assertThat(printed())
                .contains("state T in the process table", "LOST UPDATE: computed from version", "skips it. Lock")
                .contains("Transaction on PostgreSQL guard 'account:fenced:", "already accepted here")
                .contains(summary.table());
        ParsedPage page = ParsedPage.of(Files.readString(target.resolve("timeline.html")));
        assertThat(page.assertNoTwoLabelsOverlap()).isGreaterThan(100);
        assertThat(page.count("rect", "pause")).isEqualTo(1 + 3 * 2 * 2);
        assertThat(page.count("path", "refused")).isEqualTo(1 + 2 * 3);
        assertThat(processes()).hasSize(4).allSatisfy(PausedWriterDemoTest::awaitEnd);
    }

    @Test
    @Tag("server")
    void withoutTheCheckAtEnteringTheDemoFails(@TempDir Path target) throws Exception {
        Conductor weakened = new Conductor(new Story(out), target, List.of(Mode.FENCED)) {
            @Override
            void prepare(DataSource database) throws SQLException {
                withoutEnterCheck(database);
            }
        };
        RunResult fenced = weakened.conduct().of(Mode.FENCED);
        assertThat(fenced.lostUpdates()).isEqualTo(1);
        assertThat(fenced.errorCents()).isPositive();
        assertThat(fenced.refusedWhileStopped()).isEqualTo(1);
    }

    /** The end of a process is in the process table for a moment after its server has stopped. */
    private static void awaitEnd(long pid) {
        Polling.until(
                "process " + pid + " is gone",
                Duration.ofSeconds(10),
                () -> ProcessHandle.of(pid).isEmpty());
    }

    /** Replaces the function by one that finds the mark changed and says nothing. */
    private static void withoutEnterCheck(DataSource database) throws SQLException {
        try (Connection connection = database.getConnection();
                Statement statement = connection.createStatement()) {
            String definition;
            try (ResultSet row = statement.executeQuery("SELECT pg_get_functiondef('fenceline.enter_v2'::regproc)")) {
                row.next();
                definition = row.getString(1);
            }
            assertThat(definition).containsOnlyOnce("IF NOT FOUND THEN");
            statement.execute(definition.replace("IF NOT FOUND THEN", "IF false THEN"));
        }
    }

    @Test
    void aSystemWithoutStopSignalIsToldSo(@TempDir Path target) {
        assertThat(PausedWriterDemo.run(out, target, "Windows 11")).isEqualTo(PausedWriterDemo.UNSUPPORTED);
        assertThat(printed()).startsWith("This demo stops a process by SIGSTOP, which Windows does not have.");
        assertThat(target).isEmptyDirectory();
    }

    @Test
    void aDemoThatBreaksSaysWhy(@TempDir Path directory) throws Exception {
        Path file = Files.writeString(directory.resolve("target"), "not a directory");
        assertThat(PausedWriterDemo.run(out, file, "Linux")).isEqualTo(PausedWriterDemo.BROKEN);
        assertThat(printed()).contains("   BROKEN: ").contains(file.toString());
    }

    @Test
    void theExitCodeTellsWhetherItWasShown() {
        List<BookError> wrong = List.of(new BookError("10", 5_000, 2_000));
        RunResult noCheck = new RunResult(Mode.NO_CHECK, 9, 9, 0, 0, 2, wrong);
        RunResult notLower = new RunResult(Mode.NOT_LOWER, 9, 9, 1, 1, 1, wrong);
        RunResult fenced = new RunResult(Mode.FENCED, 9, 9, 2, 2, 0, List.of());
        RunResult leaky = new RunResult(Mode.FENCED, 9, 9, 1, 1, 1, wrong);

        assertThat(PausedWriterDemo.verdict(out, new Summary(9, List.of(noCheck, notLower, fenced))))
                .isEqualTo(PausedWriterDemo.SHOWN);
        assertThat(PausedWriterDemo.verdict(out, new Summary(9, List.of(noCheck, notLower, leaky))))
                .isEqualTo(PausedWriterDemo.NOT_SHOWN);
        assertThat(printed()).contains("   FAILED: The fenced run has lost updates: 1.");
    }

    private String printed() {
        return bytes.toString(StandardCharsets.UTF_8);
    }

    private List<Long> processes() {
        List<Long> pids = new ArrayList<>();
        Matcher matcher = PROCESS.matcher(printed());
        while (matcher.find()) {
            pids.add(Long.parseLong(matcher.group(1)));
        }
        return pids;
    }
}
