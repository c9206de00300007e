package dev.fenceline.migrations;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.sql.Connection;
import java.sql.SQLException;
import java.sql.SQLWarning;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.postgresql.ds.PGSimpleDataSource;
import org.postgresql.jdbc.PreferQueryMode;
import org.postgresql.util.PSQLException;
import org.postgresql.util.ServerErrorMessage;

/** Whoever calls the fence by hand is told what he has got wrong, and what to do now. */
@Tag("server")
class SqlCallsTest {

    private static final String HOLDER = "0a000000-0000-4000-8000-000000000001";
    private static final String OTHER = "0b000000-0000-4000-8000-000000000002";
    private static final String ENTER = "SELECT fenceline.enter('sql:1', 20, '" + HOLDER + "')";
    private static final String BYPASS = "SELECT fenceline.bypass('ticket 4711')";
    private static final String OVERTAKEN = "Another holder has taken over. Stop, and do not retry with this token:"
            + " acquire the lock anew, and begin at the read.";
    private static final String NOT_CLAIMED =
            "Claim first, in a transaction of its own: CALL fenceline.claim(lock, token, holder).";

    static Database database;

    @BeforeAll
    static void install() {
        database = Database.prepared();
        database.execute("CREATE TABLE plain (id int); INSERT INTO plain VALUES (1)");
        database.execute("CALL fenceline.claim('sql:1', 20, '" + HOLDER + "')");
    }

    private static Connection connect(PreferQueryMode mode) throws SQLException {
        PGSimpleDataSource source = (PGSimpleDataSource) database.source();
        source.setPreferQueryMode(mode);
        return source.getConnection();
    }

    private static List<String> warnings(Statement statement, String... each) throws SQLException {
        List<String> said = new ArrayList<>();
        for (String sql : each) {
            statement.execute(sql);
            for (SQLWarning warning = statement.getWarnings(); warning != null; warning = warning.getNextWarning()) {
                said.add(warning.getMessage());
            }
        }
        return said;
    }

    private static String inVain(String function) {
        return "fenceline." + function
                + " holds until its transaction ends, and that was this one statement: it has no effect"
                + " on the next one";
    }

    @ParameterizedTest
    @EnumSource(
            value = PreferQueryMode.class,
            names = {"SIMPLE", "EXTENDED", "EXTENDED_FOR_PREPARED"})
    void whoForgetsToBeginATransactionIsWarned(PreferQueryMode mode) throws SQLException {
        try (Connection connection = connect(mode);
                Statement statement = connection.createStatement()) {
            for (int i = 0; i < 10; i++) {
                // From the fifth time on the driver prepares at the server, and sends fewer messages.
                assertThat(warnings(statement, ENTER)).containsExactly(inVain("enter"));
                assertThat(warnings(statement, BYPASS)).containsExactly(inVain("bypass"));
            }
        }
    }

    @ParameterizedTest
    @EnumSource(
            value = PreferQueryMode.class,
            names = {"SIMPLE", "EXTENDED", "EXTENDED_FOR_PREPARED"})
    void whoBeganOneIsNotWarned(PreferQueryMode mode) throws SQLException {
        try (Connection connection = connect(mode);
                Statement statement = connection.createStatement()) {
            assertThat(warnings(statement, "BEGIN", ENTER, "UPDATE plain SET id = id", "COMMIT"))
                    .isEmpty();
            assertThat(warnings(statement, "BEGIN", ENTER, "COMMIT")).isEmpty();
            assertThat(warnings(statement, "BEGIN", ENTER, ENTER, BYPASS, "ROLLBACK"))
                    .isEmpty();
            connection.setAutoCommit(false);
            for (int i = 0; i < 10; i++) {
                assertThat(warnings(statement, ENTER, BYPASS)).isEmpty();
                connection.commit();
                assertThat((Throwable) statement.getWarnings()).isNull();
            }
        }
    }

    @Test
    void severalStatementsInOneStringAreOneTransactionAndFine() throws SQLException {
        try (Connection connection = connect(PreferQueryMode.SIMPLE);
                Statement statement = connection.createStatement()) {
            assertThat(warnings(statement, ENTER + "; UPDATE plain SET id = id", BYPASS + "; UPDATE plain SET id = id"))
                    .isEmpty();
            assertThat(warnings(statement, "SET search_path = public; " + ENTER))
                    .containsExactly(inVain("enter"));
        }
    }

    @Test
    void enteringAfterATableWasUsedIsRefused() throws SQLException {
        try (Connection connection = database.source().getConnection()) {
            connection.setAutoCommit(false);
            for (String use :
                    List.of("SELECT * FROM plain", "UPDATE plain SET id = id", "LOCK plain IN ACCESS SHARE MODE")) {
                execute(connection, use);
                ServerErrorMessage said = refusal(connection, ENTER);
                assertThat(said.getSQLState()).isEqualTo("FL010");
                assertThat(said.getMessage())
                        .isEqualTo(
                                "Entering lock 'sql:1' refused: this transaction has used public.plain already, and what it"
                                        + " has read may be older than the claim");
                assertThat(said.getHint())
                        .isEqualTo(
                                "Roll back, and enter first in the transaction, as a statement of its own; settings may come"
                                        + " before.");
                connection.rollback();
            }
            for (String harmless : List.of(
                    "SET LOCAL search_path = public",
                    "SELECT count(*) FROM pg_class",
                    "SELECT fenceline.lock_name('sql', '1')",
                    ENTER)) {
                execute(connection, harmless);
            }
            execute(connection, ENTER);
            connection.rollback();
            execute(connection, "SAVEPOINT before");
            assertThat(refusal(connection, ENTER).getMessage())
                    .isEqualTo(
                            "Entering refused: a savepoint was set before, and a rollback to it would free the mark unnoticed");
            connection.rollback();
        }
    }

    @Test
    void aReadThatWasUndoneByASavepointIsNotSeen() throws SQLException {
        // The lock on the table is given back with the savepoint, and nothing else tells that it was read.
        try (Connection connection = database.source().getConnection()) {
            connection.setAutoCommit(false);
            execute(connection, "SAVEPOINT s");
            execute(connection, "SELECT * FROM plain");
            execute(connection, "ROLLBACK TO s");
            execute(connection, "RELEASE s");
            execute(connection, ENTER);
            connection.rollback();
        }
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "fenceline.enter('%s', %s, '%s')",
                "fenceline.enter_v1('%s', %s, '%s', 1000, 1000)",
                "fenceline.enter_v2('{%s}', '{%s}', '{%s}', 1000, 1000)",
                "fenceline.enter_concurrent_v1('{%s}', '{%s}', '{%s}', 1000, 1000)",
                "fenceline.enter_reading_v1('{%s}', '{%s}', '{%s}', 1000, 1000)",
                "fenceline.hold_v1('{%1$s}', '{%2$s}', '{%3$s}', 1000, 1000, fenceline.seen_v1('{%1$s}'))",
                "fenceline.hold_concurrent_v1('{%s}', '{%s}', '{%s}', 1000, 1000)"
            })
    void aRefusalNamesTheMarkAndSaysWhatToDo(String call) throws SQLException {
        try (Connection connection = database.source().getConnection()) {
            assertRefused(connection, call, "sql:1", 10, HOLDER, "the mark is token 20/0a000000", OVERTAKEN);
            assertRefused(connection, call, "sql:1", 20, OTHER, "the mark is token 20/0a000000", OVERTAKEN);
            assertRefused(connection, call, "sql:1", 30, OTHER, "the mark is token 20/0a000000", NOT_CLAIMED);
            assertRefused(connection, call, "sql:2", 30, OTHER, "it was never claimed here", NOT_CLAIMED);
        }
    }

    private static void assertRefused(
            Connection connection, String call, String lock, int token, String holder, String mark, String hint)
            throws SQLException {
        ServerErrorMessage said = refusal(connection, "SELECT " + String.format(call, lock, token, holder));
        assertThat(said.getSQLState()).isEqualTo("FL001");
        assertThat(said.getMessage())
                .isEqualTo("Fenced work under token " + token + " of lock '" + lock + "' refused: " + mark);
        assertThat(said.getHint()).isEqualTo(hint);
    }

    @Test
    void aRefusedClaimNamesLockTokenAndMarkAndSaysWhatToDo() throws SQLException {
        try (Connection connection = database.source().getConnection()) {
            ServerErrorMessage stale = refusal(connection, "CALL fenceline.claim('sql:1', 10, '" + OTHER + "')");
            assertThat(stale.getSQLState()).isEqualTo("FL001");
            assertThat(stale.getMessage())
                    .isEqualTo("Claim of token 10/0b000000 on lock 'sql:1' refused: the mark is token 20/0a000000");
            assertThat(stale.getHint())
                    .isEqualTo(
                            "Another holder has taken over. Stop, and do not retry with this token: acquire the lock anew.");

            for (String lock : List.of("sql:1", "sql:2")) {
                ServerErrorMessage forged =
                        refusal(connection, "CALL fenceline.claim('" + lock + "', 9007199254740991, '" + OTHER + "')");
                assertThat(forged.getSQLState()).isEqualTo("FL004");
                assertThat(forged.getMessage())
                        .isEqualTo("Claim of token 9007199254740991/0b000000 on lock '" + lock
                                + "' refused: it is more than 25 h ahead of this server's clock, and the mark is "
                                + (lock.equals("sql:1") ? "token 20/0a000000" : "not set"));
                assertThat(forged.getHint())
                        .isEqualTo(
                                "Nothing happened. A token is microseconds of the lock server's time: check that clock and"
                                        + " this one, and who sent the token.");
            }
        }
    }

    private static void execute(Connection connection, String sql) throws SQLException {
        try (Statement statement = connection.createStatement()) {
            statement.execute(sql);
        }
    }

    private static ServerErrorMessage refusal(Connection connection, String sql) {
        List<ServerErrorMessage> said = new ArrayList<>();
        assertThatThrownBy(() -> execute(connection, sql))
                .isInstanceOfSatisfying(
                        PSQLException.class, e -> said.add(Objects.requireNonNull(e.getServerErrorMessage())));
        return said.get(0);
    }
}
