package dev.fenceline.bench;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.time.Duration;
import java.util.EnumSet;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Every way to lock several masters is run, and held against one server. */
@Tag("server")
class IndependentMastersTest {

    @Test
    void allAreComparedInOneRun() throws Exception {
        Duration slice = Duration.ofMillis(20);
        Settings settings = new Settings(
                Set.of(),
                EnumSet.noneOf(Entrant.class),
                2,
                slice,
                slice,
                1,
                1,
                17,
                Path.of("target"),
                Optional.empty());

        Section section = new IndependentMasters().run(settings);

        assertThat(section.body())
                .contains("| PING and PING at each of 3, two answers awaited | ")
                .contains("| Fenceline, one server | ")
                .contains("| Fenceline, Redlock of 5 | ")
                .contains("| Redisson RedLock of 5 | ");
        assertThat(section.targets())
                .hasSize(4)
                .allSatisfy(target -> assertThat(target.measured()).isPositive());
    }
}
