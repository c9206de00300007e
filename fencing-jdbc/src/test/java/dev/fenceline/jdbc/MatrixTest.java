package dev.fenceline.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.DynamicContainer.dynamicContainer;
import static org.junit.jupiter.api.DynamicTest.dynamicTest;

import dev.fenceline.FencingToken;
import dev.fenceline.LockName;
import dev.fenceline.RetryableConflictException;
import dev.fenceline.StaleTokenException;
import dev.fenceline.jdbc.MatrixCell.Form;
import dev.fenceline.jdbc.MatrixCell.Interleaving;
import dev.fenceline.jdbc.MatrixCell.Operation;
import dev.fenceline.jdbc.MatrixPlay.Sessions;
import dev.fenceline.jdbc.MatrixRules.Answer;
import dev.fenceline.jdbc.MatrixRules.Ruling;
import dev.fenceline.jdbc.MatrixSession.Steps;
import dev.fenceline.jdbc.MatrixStage.Side;
import dev.fenceline.jdbc.MatrixTokens.Age;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.UUID;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DynamicContainer;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Two sessions in every interleaving: each operation, by each form of the fence, at each isolation level. A cell is right when the
 * session under test is told what {@link MatrixRules} says, by the exception that its user is to act on, and when the rows are those
 * of a serial execution of everything that was reported as applied. {@link MatrixLosersTest} shows that these eyes see a loss.
 */
@Tag("server")
@Tag("matrix")
class MatrixTest {

    /** From PostgreSQL 17 on, where a MERGE can be a part of another statement. */
    private static final String TOTALS = """
            guard: {applied=65, retryable, then applied=16, stale=81}
            concurrent guard: {applied=54, not applicable=27, stale=81}
            guard in one statement: {applied=54, not applicable=54, stale=54}
            row: {applied=43, not applicable=63, retryable, then applied=8, retryable, then stale=16, stale=32}
            enforced: {applied=65, retryable, then applied=16, stale=81}
            enforced by SQL alone: {applied=45, retryable, then applied=36, retryable, then stale=36, stale=45}
            """;

    private static final String TOTALS_OF_15_AND_16 = TOTALS.replace(
            "guard in one statement: {applied=54, not applicable=54, stale=54}",
            "guard in one statement: {applied=45, not applicable=72, stale=45}");

    /** Without MERGE. */
    private static final String TOTALS_OF_14 = """
            guard: {applied=58, not applicable=18, retryable, then applied=14, stale=72}
            concurrent guard: {applied=48, not applicable=42, stale=72}
            guard in one statement: {applied=45, not applicable=72, stale=45}
            row: {applied=43, not applicable=63, retryable, then applied=8, retryable, then stale=16, stale=32}
            enforced: {applied=58, not applicable=18, retryable, then applied=14, stale=72}
            enforced by SQL alone: {applied=40, not applicable=18, retryable, then applied=32, retryable, then stale=32, stale=40}
            """;

    /** Of one operation beside a session at another level, on every version. */
    private static final String TOTALS_OF_MIXED = """
            guard: {applied=14, retryable, then applied=4, stale=18}
            concurrent guard: {applied=12, not applicable=6, stale=18}
            guard in one statement: {applied=18, stale=18}
            row: {applied=14, retryable, then applied=4, retryable, then stale=8, stale=10}
            enforced: {applied=14, retryable, then applied=4, stale=18}
            enforced by SQL alone: {applied=10, retryable, then applied=8, retryable, then stale=8, stale=10}
            """;

    // It writes the row and, in row mode, the guard too.
    private static final List<MatrixCell> MIXED = MatrixCell.mixed(Operation.UPSERT);

    private static TestDatabase database;
    private static MatrixStage stage;
    private static MatrixTables tables;
    private static int version;

    @BeforeAll
    static void create() throws SQLException {
        database = TestDatabase.create();
        version = database.server().majorVersion();
        tables = MatrixTables.create(
                database,
                "matrix",
                Stream.concat(MatrixCell.all().stream(), MIXED.stream())
                        .filter(cell -> MatrixRules.of(cell, version).isApplicable())
                        .toList());
        stage = new MatrixStage(database);
    }

    @AfterAll
    static void close() throws SQLException {
        stage.close();
    }

    /** Nobody turns off a cell unseen. */
    @ParameterizedTest
    @ValueSource(ints = {14, 15, 16, 17, 18})
    void soManyCellsHaveEachAnswer(int serverVersion) {
        assertThat(totals(MatrixCell.all(), serverVersion))
                .isEqualTo(serverVersion < 15 ? TOTALS_OF_14 : serverVersion < 17 ? TOTALS_OF_15_AND_16 : TOTALS);
        assertThat(totals(MIXED, serverVersion)).isEqualTo(TOTALS_OF_MIXED);
    }

    private static String totals(List<MatrixCell> cells, int serverVersion) {
        Map<Form, Map<String, Long>> counted = cells.stream()
                .collect(Collectors.groupingBy(
                        MatrixCell::form,
                        () -> new EnumMap<>(Form.class),
                        Collectors.groupingBy(
                                cell -> MatrixRules.of(cell, serverVersion).toString(),
                                TreeMap::new,
                                Collectors.counting())));
        return counted.entrySet().stream()
                .map(form -> form.getKey() + ": " + form.getValue() + "\n")
                .collect(Collectors.joining());
    }

    @Test
    void everyCellThatIsNotApplicableSaysWhy() {
        Set<String> reasons = MatrixCell.all().stream()
                .map(cell -> MatrixRules.of(cell, 14))
                .filter(ruling -> !ruling.isApplicable())
                .map(Ruling::why)
                .collect(Collectors.toSet());

        assertThat(reasons)
                .containsExactlyInAnyOrder(
                        "MERGE came with PostgreSQL 15",
                        "MERGE cannot be a part of another statement before PostgreSQL 17",
                        "COPY and TRUNCATE cannot be a part of another statement",
                        "one statement that only reads is a read-only unit",
                        "concurrent transactions of one claim do not wait for each other; their order is their holder's affair",
                        "row mode has no COPY: a row that comes so meets no condition",
                        "row mode has no MERGE: its upsert is one statement for both",
                        "row mode has no TRUNCATE, which looks at no row, hence at no mark of one",
                        "while a row exists its own mark rules, and an update leaves the guard alone",
                        "a batch of row mode is one statement of values that were read in others");
    }

    @TestFactory
    Stream<DynamicContainer> everyCellHasItsAnswer() {
        return played(MatrixCell.all());
    }

    @TestFactory
    Stream<DynamicContainer> theLevelOfTheOtherSessionChangesNoAnswer() {
        return played(MIXED);
    }

    private Stream<DynamicContainer> played(List<MatrixCell> cells) {
        Map<Form, List<DynamicTest>> tests = new EnumMap<>(Form.class);
        for (MatrixCell cell : cells) {
            Ruling ruling = MatrixRules.of(cell, version);
            if (ruling.isApplicable()) {
                tests.computeIfAbsent(cell.form(), form -> new ArrayList<>())
                        .add(dynamicTest(cell + " → " + ruling, () -> check(cell, ruling)));
            }
        }
        return tests.entrySet().stream()
                .map(form -> dynamicContainer(form.getKey().toString(), form.getValue()));
    }

    private void check(MatrixCell cell, Ruling ruling) throws Exception {
        Map<Integer, MatrixTokens> tokens = grants(cell);
        MatrixPlay play = new MatrixPlay(stage, cell, tables.rows(cell), sessions(cell, tokens));
        try {
            assertThat(told(play.play(), tokens)).as(ruling.why()).isEqualTo(ruling.first());
            checkRows(play);
            if (ruling.first() == Answer.RETRYABLE) {
                assertThat(told(play.playAgain(), tokens))
                        .as("a new transaction under the same claim")
                        .isEqualTo(ruling.lasting());
                checkRows(play);
            }
            if (ruling.lasting() == Answer.STALE) {
                for (Map.Entry<String, Steps> way : play.insist().entrySet()) {
                    assertThat(told(attempt(way.getValue()), tokens))
                            .as("whoever is refused and tries " + way.getKey())
                            .isEqualTo(Answer.STALE);
                }
                checkRows(play);
            }
            assertThat(mark(cell, tokens)).as("the mark").isEqualTo(rightMark(cell, tokens));
        } finally {
            stage.reset();
        }
    }

    private static void checkRows(MatrixPlay play) throws SQLException {
        assertThat(play.actual())
                .as("the rows after what was reported as applied")
                .isEqualTo(play.expected());
        assertThat(play.wrongReads()).as("what accepted work was based on").isEmpty();
    }

    /** In row mode each row is a lock of its own; elsewhere one lock is for all rows of a cell. */
    private static Map<Integer, MatrixTokens> grants(MatrixCell cell) {
        Map<Integer, MatrixTokens> tokens = new TreeMap<>();
        if (cell.form() != Form.ROW) {
            tokens.put(MatrixState.ROW, MatrixTokens.of(tables.lock(cell)));
            return tokens;
        }
        tokens.put(MatrixState.ROW, MatrixTokens.of(MatrixRowSession.lock(tables.number(cell), MatrixState.ROW)));
        if (cell.operation() == Operation.BATCH) {
            tokens.put(
                    MatrixState.OTHER_ROW,
                    MatrixTokens.of(MatrixRowSession.lock(tables.number(cell), MatrixState.OTHER_ROW)));
        }
        return tokens;
    }

    private static Sessions sessions(MatrixCell cell, Map<Integer, MatrixTokens> tokens) {
        MatrixRows rows = tables.rows(cell);
        MatrixTokens ofAll = tokens.get(MatrixState.ROW);
        return (side, link, age) -> switch (cell.form()) {
            case GUARD -> MatrixGuardSession.ofUnits(link, rows, ofAll.of(age));
            case GUARD_CONCURRENT -> MatrixGuardSession.ofConcurrentUnits(link, rows, ofAll.of(age));
            case GUARD_STATEMENT ->
                side == Side.SUBJECT
                        ? MatrixGuardSession.ofStatements(link, rows, ofAll.of(age))
                        : MatrixGuardSession.ofUnits(link, rows, ofAll.of(age));
            case ENFORCED -> MatrixEnforcedSession.byLibrary(link, rows, ofAll.of(age));
            case ENFORCED_SQL -> MatrixEnforcedSession.bySql(link, rows, ofAll.of(age));
            case ROW -> {
                Map<Integer, FencingToken> ofEach = new TreeMap<>();
                tokens.forEach((row, both) -> ofEach.put(row, both.of(age)));
                MatrixRowSession session = new MatrixRowSession(link, rows, ofEach);
                yield side == Side.SUBJECT && isTheFirstWrite(cell) ? session.blind() : session;
            }
        };
    }

    /** An insert of row mode is the first to write the guard's row only where no claim has looked for the row before. */
    private static boolean isTheFirstWrite(MatrixCell cell) {
        return cell.interleaving() == Interleaving.FIRST_GUARD_ROW
                && (cell.operation() == Operation.INSERT || cell.operation() == Operation.UPSERT);
    }

    private static FencingToken rightMark(MatrixCell cell, Map<Integer, MatrixTokens> tokens) {
        return tokens.get(MatrixState.ROW)
                .of(
                        switch (cell.interleaving()) {
                            case STALE_BEHIND_ROLLBACK, TWO_TRANSACTIONS -> Age.OLDER;
                            case STALE_BEHIND_COMMIT, NEWER_BEHIND_CURRENT, FIRST_GUARD_ROW, STALE_AFTER_DELETE ->
                                Age.NEWER;
                        });
    }

    /** The higher of the guard's mark and the row's, where there is one. */
    private static FencingToken mark(MatrixCell cell, Map<Integer, MatrixTokens> tokens) throws SQLException {
        LockName lock = tokens.get(MatrixState.ROW).older().lock();
        MatrixRows rows = tables.rows(cell);
        try (PreparedStatement select = stage.observer()
                .prepareStatement("SELECT token, holder FROM (SELECT token, holder FROM fenceline.guard WHERE lock = ?"
                        + " UNION ALL SELECT fence_token, fence_holder FROM " + rows.table()
                        + " WHERE cell = ? AND id = ?) marks ORDER BY token DESC LIMIT 1")) {
            select.setString(1, lock.toString());
            select.setInt(2, rows.cell());
            select.setInt(3, MatrixState.ROW);
            try (ResultSet row = select.executeQuery()) {
                row.next();
                return new FencingToken(lock, row.getLong(1), row.getObject(2, UUID.class));
            }
        }
    }

    private static Optional<Exception> attempt(Steps steps) {
        try {
            steps.run();
            return Optional.empty();
        } catch (Exception e) {
            return Optional.of(e);
        }
    }

    /** What a user makes of an exception: the library's say it by their type, the server's by their SQLSTATE. */
    private static Answer told(Optional<Exception> refusal, Map<Integer, MatrixTokens> tokens) {
        if (refusal.isEmpty()) {
            return Answer.APPLIED;
        }
        Exception said = refusal.get();
        if (said instanceof StaleTokenException stale) {
            assertThat(tokens.values()).contains(new MatrixTokens(stale.presented(), stale.newest()));
            assertThat(stale)
                    .hasMessageContaining("token " + stale.presented() + " is older by")
                    .hasMessageContaining(" than " + stale.newest() + ", already accepted here")
                    .hasMessageContaining("do not retry with this token");
            return Answer.STALE;
        }
        if (said instanceof RetryableConflictException) {
            assertThat(said).hasMessageContaining("40001").hasMessageContaining("under");
            return Answer.RETRYABLE;
        }
        if (!(said instanceof SQLException sql)) {
            throw new AssertionError("This is no refusal", said);
        }
        return switch (String.valueOf(sql.getSQLState())) {
            case "FL001" -> {
                String lock = tokens.get(MatrixState.ROW).older().lock().toString();
                assertThat(sql.getMessage()).contains("refused", lock);
                yield Answer.STALE;
            }
            case "40001", "40P01", "55P03" -> Answer.RETRYABLE;
            default -> throw new AssertionError("This says neither stale nor retryable", said);
        };
    }
}
