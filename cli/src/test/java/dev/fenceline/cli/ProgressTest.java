package dev.fenceline.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

/** What is said of work that takes its time, by a clock that is set. */
class ProgressTest {

    private final AtomicLong nanos = new AtomicLong(17);

    private void after(int seconds, Progress progress) {
        nanos.set(17 + TimeUnit.SECONDS.toNanos(seconds));
        progress.tick();
    }

    @Test
    void aLogGetsALineAfterTwoSecondsAndThenEveryTen() {
        ScriptedTerminal terminal = new ScriptedTerminal();
        try (Progress progress = Progress.of(terminal, "Looking", nanos::get)) {
            after(1, progress);
            assertThat(terminal.err.toString()).isEmpty();
            after(2, progress);
            progress.now("1 of\n300");
            after(3, progress);
            after(11, progress);
            after(12, progress);
            after(21, progress);
        }
        assertThat(terminal.err.toString().lines()).containsExactly("Looking (2 s)", "1 of 300 (12 s)");
        assertThat(terminal.err.toString()).doesNotContain("\r");
        assertThat(terminal.out.toString()).isEmpty();
    }

    @Test
    void aScreenGetsOneLineThatIsWrittenOverAndClearedAtTheEnd() {
        ScriptedTerminal terminal = new ScriptedTerminal().answering();
        try (Progress progress = Progress.of(terminal, "Looking around", nanos::get)) {
            after(1, progress);
            after(2, progress);
            progress.now("Done");
            after(3, progress);
        }
        assertThat(terminal.err.toString()).isEqualTo("\rLooking around (2 s)\rDone (3 s)          \r          \r");
    }

    @Test
    void whatIsQuickSaysNothing() {
        ScriptedTerminal terminal = new ScriptedTerminal().answering();
        String result = Progress.during(terminal, "Looking", progress -> "done");
        assertThat(result).isEqualTo("done");
        assertThat(terminal.err.toString()).isEmpty();
    }
}
