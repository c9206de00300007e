package dev.fenceline.examples.pausedwriter;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class EventFileTest {

    @Test
    void eventsComeBackAsTheyWereWritten(@TempDir Path directory) {
        EventFile file = EventFile.in(directory, "A");
        Event granted = file.add(Mode.FENCED, Scene.FIRST_PAUSE, Event.Kind.GRANTED, 1_764_430_562_123_456L, "");
        Event refused = file.add(
                Mode.FENCED, Scene.FIRST_PAUSE, Event.Kind.REFUSED, 1_764_430_562_123_456L, "two\nlines\tand a \\n");
        assertThat(EventFile.in(directory, "A").events()).containsExactly(granted, refused);
    }

    @Test
    void aProcessThatSawNothingHasNoEvents(@TempDir Path directory) {
        assertThat(EventFile.in(directory, "B").events()).isEmpty();
    }

    @Test
    void fieldsSurviveTabsNewlinesAndBackslashes() {
        assertThat(Fields.split(Fields.join("a\tb", "c\nd\r", "e\\tf", "")))
                .containsExactly("a\tb", "c\nd\r", "e\\tf", "");
    }

    @Test
    void aLineThatIsNoEventIsRefused() {
        assertThatThrownBy(() -> Event.parse("half a li"))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("Not a line of an event file: half a li");
    }
}
