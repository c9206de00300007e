package dev.fenceline.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.DynamicContainer.dynamicContainer;
import static org.junit.jupiter.api.DynamicTest.dynamicTest;

import dev.fenceline.jdbc.MatrixNaive.Scene;
import java.sql.SQLException;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DynamicContainer;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;

/**
 * The naive rows of the matrix. Each is played as the cells of {@link MatrixTest} are and looked at with the same eyes, and must
 * lose: the rows are not those of a serial execution of what was reported as applied. Where it does not, the harness is blind, or
 * the warning in the documentation is out of date.
 */
@Tag("server")
@Tag("matrix")
class MatrixLosersTest {

    private static TestDatabase database;
    private static MatrixStage stage;
    private static int version;
    private static final Map<MatrixNaive, MatrixTables> TABLES = new EnumMap<>(MatrixNaive.class);
    // The right forms that are no cells of the matrix proper.
    private static final Map<MatrixNaive, Function<Scene, MatrixSession>> RIGHT = new EnumMap<>(Map.of(
            MatrixNaive.LOOKING_RESOLVER, MatrixResolving::writingTheRecord,
            MatrixNaive.DO_NOTHING, MatrixResolving::leavingPlainly));
    private static final Map<MatrixNaive, MatrixTables> RIGHT_TABLES = new EnumMap<>(MatrixNaive.class);
    private static MatrixTables withTrigger;

    @BeforeAll
    static void create() throws SQLException {
        database = TestDatabase.create();
        version = database.server().majorVersion();
        for (MatrixNaive naive : MatrixNaive.values()) {
            TABLES.put(naive, MatrixTables.create(database, prefix("naive", naive), naive.cells(version)));
        }
        database.execute("SELECT fenceline.unprotect('" + prefix("naive", MatrixNaive.NO_TRIGGER) + "_enforced')");
        withTrigger = MatrixTables.create(database, "protected", MatrixNaive.NO_TRIGGER.cells(version));
        for (MatrixNaive naive : RIGHT.keySet()) {
            RIGHT_TABLES.put(naive, MatrixTables.create(database, prefix("right", naive), naive.cells(version)));
        }
        stage = new MatrixStage(database);
    }

    private static String prefix(String kind, MatrixNaive naive) {
        return kind + "_" + naive.name().toLowerCase(Locale.ROOT);
    }

    @AfterAll
    static void close() throws SQLException {
        stage.close();
    }

    @Test
    void soManyCellsAreLostByEach() {
        assertThat(lost(15)).isEqualTo("""
                        token >= stored alone: 10
                        a check without a lock: 4
                        claim and read in one snapshot: 4
                        check and write in one string in simple mode: 6
                        a savepoint before entering: 4
                        FOR SHARE with two threads: 4
                        one statement that waits for the mark behind its own snapshot: 3
                        plain SQL on a table whose trigger is dropped: 12
                        a resolver that only looks: 12
                        own operation id with DO NOTHING: 4
                        """);
        assertThat(lost(14)).as("without MERGE").isEqualTo("""
                        token >= stored alone: 9
                        a check without a lock: 3
                        claim and read in one snapshot: 3
                        check and write in one string in simple mode: 6
                        a savepoint before entering: 3
                        FOR SHARE with two threads: 3
                        one statement that waits for the mark behind its own snapshot: 3
                        plain SQL on a table whose trigger is dropped: 9
                        a resolver that only looks: 9
                        own operation id with DO NOTHING: 3
                        """);
    }

    private static String lost(int serverVersion) {
        return Arrays.stream(MatrixNaive.values())
                .map(naive -> naive + ": " + naive.cells(serverVersion).size() + "\n")
                .collect(Collectors.joining());
    }

    @TestFactory
    Stream<DynamicContainer> everyNaiveFormLoses() {
        return Arrays.stream(MatrixNaive.values())
                .map(naive -> dynamicContainer(
                        naive.toString(),
                        naive.cells(version).stream()
                                .map(cell -> dynamicTest(name(naive, cell) + " → loses", () -> loses(naive, cell)))));
    }

    @TestFactory
    Stream<DynamicContainer> theirRightFormsLoseNothing() {
        return RIGHT.keySet().stream()
                .map(naive -> dynamicContainer(
                        "instead of " + naive,
                        naive.cells(version).stream()
                                .map(cell -> dynamicTest(
                                        name(naive, cell) + " → once",
                                        () -> losesNothing(RIGHT_TABLES.get(naive), cell, RIGHT.get(naive))))));
    }

    @TestFactory
    Stream<DynamicTest> theTriggerRefusesWhatIsLostWithoutIt() {
        return MatrixNaive.NO_TRIGGER.cells(version).stream()
                .map(cell -> dynamicTest(cell + ", without entering → FL001", () -> isRefused(cell)));
    }

    private static void isRefused(MatrixCell cell) throws Exception {
        MatrixPlay play = play(withTrigger, cell, MatrixNaive.NO_TRIGGER::session);
        try {
            assertThat(play.play().orElseThrow())
                    .isInstanceOfSatisfying(
                            SQLException.class, e -> assertThat(e.getSQLState()).isEqualTo("FL001"))
                    .hasMessageContaining("protected_enforced")
                    .hasMessageContaining(withTrigger.lock(cell).toString());
            assertThat(play.actual()).isEqualTo(play.expected());
        } finally {
            stage.reset();
        }
    }

    private static String name(MatrixNaive naive, MatrixCell cell) {
        return cell.operation() + ", " + naive + ", " + cell.isolation().sql() + ", " + cell.interleaving();
    }

    private static void loses(MatrixNaive naive, MatrixCell cell) throws Exception {
        MatrixPlay play = play(TABLES.get(naive), cell, naive::session);
        try {
            Optional<Exception> refusal = play.play();

            assertThat(play.actual()).as("the rows, with a loss").isEqualTo(naive.wrong(cell));
            assertThat(play.actual())
                    .as("the rows after what was reported as applied, which would be no loss")
                    .isNotEqualTo(play.expected());
            assertThat(refusal.isPresent())
                    .as("it is told that it was refused: %s", refusal)
                    .isEqualTo(naive == MatrixNaive.TWO_STATEMENTS);
        } finally {
            stage.reset();
        }
    }

    private static void losesNothing(MatrixTables tables, MatrixCell cell, Function<Scene, MatrixSession> form)
            throws Exception {
        MatrixPlay play = play(tables, cell, form);
        try {
            assertThat(play.play()).isEmpty();
            assertThat(play.actual()).isEqualTo(play.expected());
        } finally {
            stage.reset();
        }
    }

    private static MatrixPlay play(MatrixTables tables, MatrixCell cell, Function<Scene, MatrixSession> form) {
        MatrixTokens tokens = MatrixTokens.of(tables.lock(cell));
        UUID operation = UUID.randomUUID();
        MatrixRows rows = tables.rows(cell);
        return new MatrixPlay(
                stage,
                cell,
                rows,
                (side, link, age) -> form.apply(new Scene(stage, cell, rows, tokens, operation, side, link, age)));
    }
}
