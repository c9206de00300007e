package dev.fenceline.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.fenceline.FencingToken;
import dev.fenceline.UnfencedWriteException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Nothing is decided by the clock of the application, nor by the time at which a transaction began. */
@Tag("server")
class ClocksTest extends TwoGrants {

    private static final Pattern WALL_CLOCK = Pattern.compile(
            "currentTimeMillis|Clock\\.system|(Instant|OffsetDateTime|LocalDateTime|ZonedDateTime|LocalDate)\\.now\\(|new (java\\.util\\.)?Date\\(");
    private static final Pattern FROZEN =
            Pattern.compile("(?<!pg_catalog\\.)\\bnow\\(\\)|current_timestamp|localtimestamp");

    private static Stream<Path> files(String folder, String ending) {
        try (Stream<Path> files = Files.walk(Path.of(folder))) {
            return files.filter(file -> file.toString().endsWith(ending)).toList().stream();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static String text(Path source) {
        try {
            return Files.readString(source);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Test
    void noSourceReadsTheWallClockOfTheApplication() {
        assertThat(files("src/main/java", ".java"))
                .hasSizeGreaterThan(20)
                .allSatisfy(
                        source -> assertThat(text(source)).as(source.toString()).doesNotContainPattern(WALL_CLOCK));
        assertThat(List.of("System.currentTimeMillis()", "OffsetDateTime.now()", "new Date()"))
                .allSatisfy(line -> assertThat(line).containsPattern(WALL_CLOCK));
    }

    @Test
    void theFunctionsReadTheFrozenTimeOnlyToTellTransactionsApart() {
        List<String> lines = files("../migrations/src/main/resources", ".sql")
                .flatMap(file -> text(file).lines())
                .filter(line -> FROZEN.matcher(line).find())
                .map(String::strip)
                .toList();
        assertThat(lines).isNotEmpty().allSatisfy(line -> assertThat(line).containsAnyOf("begun_at", "begun at"));
    }

    @Test
    void aTransactionWhoseTimeIsFrozenClaimsAndEntersByTheTimeOfNow() throws SQLException {
        try (Connection outer = database.source().getConnection()) {
            outer.setAutoCommit(false);
            TestDatabase.read(outer, 1);
            FencingToken later = Grants.next(older.lock());
            TestDatabase.await(
                    "the clock goes on",
                    () -> microseconds(outer, "clock_timestamp()") > microseconds(outer, "now()") + 1000);

            GuardSql.claim(outer, Tokens.of(later), Duration.ofSeconds(5));
            GuardSql.Entered entered = GuardSql.enter(
                    outer,
                    Entry.ALONE,
                    Optional.empty(),
                    Tokens.of(later),
                    Duration.ofSeconds(5),
                    Duration.ofSeconds(5));
            assertThat(entered.at()).isAfter(entered.begunAt());
            assertThat(microseconds(
                            outer, "(SELECT claimed_at FROM fenceline.guard WHERE lock = '" + later.lock() + "')"))
                    .as("claimed now, in a transaction that began before")
                    .isGreaterThan(microseconds(outer, "now()"));
            outer.rollback();
        }
    }

    private static long microseconds(Connection connection, String time) {
        try (var row = connection
                .createStatement()
                .executeQuery("SELECT (extract(epoch FROM " + time + ") * 1000000)::bigint")) {
            row.next();
            return row.getLong(1);
        } catch (SQLException e) {
            throw new IllegalStateException(e);
        }
    }

    @Test
    void aFenceInsideOfASurroundingTransactionIsRefusedWhoseTimeAndViewAreFrozen() throws SQLException {
        try (Connection outer = database.source().getConnection()) {
            outer.setAutoCommit(false);
            TestDatabase.read(outer, 1);
            PostgresFence inside = PostgresFence.on(new BoundSource(outer).source());
            assertThatThrownBy(() -> inside.claim(older))
                    .isInstanceOf(UnfencedWriteException.class)
                    .hasMessageStartingWith("A connection with a transaction already OPEN refused");
            assertThatThrownBy(() -> outer.createStatement().execute("SELECT 1 / 0"))
                    .isInstanceOf(SQLException.class);
            assertThatThrownBy(() -> inside.claim(older))
                    .as("a pooled connection that came back in a failed state")
                    .isInstanceOf(UnfencedWriteException.class)
                    .hasMessageStartingWith("A connection with a transaction already FAILED refused");
        }
    }
}
