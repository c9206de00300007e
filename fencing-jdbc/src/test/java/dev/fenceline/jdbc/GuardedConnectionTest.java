package dev.fenceline.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.fenceline.Action;
import dev.fenceline.TransactionRolledBackException;
import dev.fenceline.UnfencedWriteException;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Savepoint;
import java.sql.Statement;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Work cannot end its transaction, and a failure in it cannot pass for success. */
@Tag("server")
class GuardedConnectionTest {

    private record Ending(String name, Action<Connection, SQLException> action, String command) {
        @Override
        public String toString() {
            return name;
        }
    }

    static TestDatabase database;

    Claim<Connection> claim;
    String resource;

    @BeforeAll
    static void create() {
        database = TestDatabase.create();
    }

    @BeforeEach
    void claimed() {
        var token = Grants.next(Grants.freshLock());
        claim = PostgresFence.on(database.source()).claim(token);
        resource = "PostgreSQL guard '" + token.lock() + "'";
        database.account(1, 100);
    }

    static Stream<Ending> endings() {
        return Stream.of(
                new Ending("commit", Connection::commit, "commit()"),
                new Ending("rollback", Connection::rollback, "rollback()"),
                new Ending("setAutoCommit(true)", c -> c.setAutoCommit(true), "setAutoCommit()"),
                new Ending("setAutoCommit(false)", c -> c.setAutoCommit(false), "setAutoCommit()"),
                new Ending("close", Connection::close, "close()"),
                new Ending("abort", c -> c.abort(Runnable::run), "abort()"),
                new Ending(
                        "connection of a statement",
                        c -> c.createStatement().getConnection().commit(),
                        "commit()"),
                new Ending(
                        "connection of a prepared statement",
                        c -> c.prepareStatement("SELECT 1").getConnection().commit(),
                        "commit()"),
                new Ending(
                        "connection of a result's statement",
                        c -> c.createStatement()
                                .executeQuery("SELECT 1")
                                .getStatement()
                                .getConnection()
                                .commit(),
                        "commit()"),
                new Ending(
                        "connection of the metadata",
                        c -> c.getMetaData().getConnection().commit(),
                        "commit()"),
                new Ending(
                        "connection of a result of the metadata",
                        c -> c.getMetaData()
                                .getSchemas()
                                .getStatement()
                                .getConnection()
                                .commit(),
                        "commit()"),
                new Ending("execute", c -> c.createStatement().execute("COMMIT"), "The statement COMMIT"),
                new Ending(
                        "execute with keys",
                        c -> c.createStatement().execute("end", Statement.RETURN_GENERATED_KEYS),
                        "The statement END"),
                new Ending("executeUpdate", c -> c.createStatement().executeUpdate("abort"), "The statement ABORT"),
                new Ending(
                        "executeLargeUpdate",
                        c -> c.createStatement().executeLargeUpdate("ROLLBACK"),
                        "The statement ROLLBACK"),
                new Ending(
                        "executeQuery",
                        c -> c.createStatement().executeQuery("/* x */ COMMIT"),
                        "The statement COMMIT"),
                new Ending("addBatch", c -> c.createStatement().addBatch("COMMIT"), "The statement COMMIT"),
                new Ending("prepareStatement", c -> c.prepareStatement("COMMIT"), "The statement COMMIT"),
                new Ending("prepareCall", c -> c.prepareCall("BEGIN"), "The statement BEGIN"),
                new Ending(
                        "prepare transaction",
                        c -> c.createStatement().execute("PREPARE TRANSACTION 'x'"),
                        "The statement PREPARE TRANSACTION"));
    }

    @ParameterizedTest
    @MethodSource("endings")
    void anInnerEndIsRefusedBeforeItIsSent(Ending ending) {
        assertThatThrownBy(() -> claim.useTransaction(c -> {
                    TestDatabase.write(c, 1, 0);
                    ending.action().with(c);
                }))
                .isInstanceOf(UnfencedWriteException.class)
                .hasMessage(ending.command() + " in a fenced transaction on " + resource
                        + " refused before it was sent: what followed would be written without the fence. The transaction is"
                        + " rolled back. Return from the work to commit, throw to roll back, or use a savepoint.");
        assertThat(database.balance(1)).isEqualTo(100);
    }

    @ParameterizedTest
    @MethodSource("endings")
    void anInnerEndThatWasSwallowedIsThrownAtTheCommit(Ending ending) {
        assertThatThrownBy(() -> claim.useTransaction(c -> {
                    TestDatabase.write(c, 1, 0);
                    try {
                        ending.action().with(c);
                    } catch (UnfencedWriteException swallowed) {
                        TestDatabase.write(c, 1, 1);
                    }
                }))
                .isInstanceOf(UnfencedWriteException.class)
                .hasMessageStartingWith(ending.command() + " in a fenced transaction on " + resource + " refused");
        assertThat(database.balance(1)).isEqualTo(100);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "UPDATE account SET balance = 1; COMMIT",
                "UPDATE account SET balance = 1; COMMIT; UPDATE account SET balance = 2",
                "UPDATE account SET balance = 1; COMMIT; BEGIN; UPDATE account SET balance = 2",
                "SELECT 1; ROLLBACK; UPDATE account SET balance = 2",
            })
    void anEndInsideAStringOfSeveralStatementsIsFoundByTheLastCheck(String sql) {
        assertThatThrownBy(() -> claim.useTransaction(c -> c.createStatement().execute(sql)))
                .isInstanceOf(UnfencedWriteException.class)
                .hasMessageStartingWith("Transaction on " + resource + " under token " + claim.token()
                        + " was ended from within, by a COMMIT or ROLLBACK in a string of several statements or through an"
                        + " unwrapped connection.")
                .hasMessageContaining("What the work wrote before a COMMIT is committed; what it wrote after it may be"
                        + " committed without the fence");
        // It was told truthfully: something did commit.
        assertThat(database.balance(1)).isNotEqualTo(100);
    }

    @Test
    void anEndThroughAnUnwrappedConnectionIsFoundByTheLastCheck() {
        assertThatThrownBy(() -> claim.useTransaction(c -> {
                    TestDatabase.write(c, 1, 7);
                    c.unwrap(org.postgresql.jdbc.PgConnection.class).commit();
                    TestDatabase.write(c, 1, 8);
                }))
                .isInstanceOf(UnfencedWriteException.class)
                .hasMessageContaining("was ended from within");
        assertThat(database.balance(1)).isEqualTo(7);
    }

    @Test
    void anInnerCommitIsAlsoToldWhenTheWorkThenFails() {
        assertThatThrownBy(() -> claim.useTransaction(c -> {
                    c.createStatement().execute("UPDATE account SET balance = 1; COMMIT");
                    throw new IllegalStateException("of the user");
                }))
                .isInstanceOf(IllegalStateException.class)
                .hasMessage("of the user")
                .satisfies(e -> assertThat(e.getSuppressed())
                        .singleElement()
                        .isInstanceOf(UnfencedWriteException.class)
                        .asString()
                        .contains("was ended from within"));
    }

    @Test
    void theDriverReportsACommitOfAFailedTransactionAsSuccess() throws SQLException {
        // The control: what the fence must not do.
        try (Connection plain = database.source().getConnection()) {
            plain.setAutoCommit(false);
            TestDatabase.write(plain, 1, 0);
            assertThatThrownBy(() -> plain.createStatement().execute("SELECT 1 / 0"))
                    .isInstanceOf(SQLException.class);
            plain.commit();
        }
        assertThat(database.balance(1)).isEqualTo(100);
    }

    @Test
    void aSwallowedFailureIsNotReportedAsApplied() {
        assertThatThrownBy(() -> claim.useTransaction(c -> {
                    TestDatabase.write(c, 1, 0);
                    try {
                        c.createStatement().execute("SELECT 1 / 0");
                    } catch (SQLException swallowed) {
                        // As many a program does.
                    }
                }))
                .isInstanceOf(TransactionRolledBackException.class)
                .hasMessage("Transaction on " + resource + " under token " + claim.token()
                        + " rolled back: a statement failed, and the work went on as if it had not: ERROR: division by zero"
                        + " (SQLSTATE 22012). Nothing of it happened. Correct the statement, or roll back to a savepoint set"
                        + " before it.")
                .hasCauseInstanceOf(SQLException.class);
        assertThat(database.balance(1)).isEqualTo(100);
    }

    @Test
    void aFailureSwallowedWhileReadingAResultIsNotReportedAsApplied() {
        assertThatThrownBy(() -> claim.useTransaction(c -> {
                    TestDatabase.write(c, 1, 0);
                    try (Statement statement = c.createStatement()) {
                        statement.setFetchSize(1);
                        ResultSet rows = statement.executeQuery("SELECT 10 / (3 - n) FROM generate_series(1, 5) n");
                        while (rows.next()) {
                            assertThat(rows.getInt(1)).isPositive();
                        }
                    } catch (SQLException swallowed) {
                        // As many a program does.
                    }
                }))
                .isInstanceOf(TransactionRolledBackException.class)
                .hasMessageContaining("division by zero");
        assertThat(database.balance(1)).isEqualTo(100);
    }

    @Test
    void aFailureThatHappenedBehindTheGuardIsFoundByTheLastCheck() {
        assertThatThrownBy(() -> claim.useTransaction(c -> {
                    TestDatabase.write(c, 1, 0);
                    try {
                        c.unwrap(org.postgresql.jdbc.PgConnection.class)
                                .createStatement()
                                .execute("SELECT 1 / 0");
                    } catch (SQLException swallowed) {
                        // As many a program does.
                    }
                }))
                .isInstanceOf(TransactionRolledBackException.class)
                .hasMessageContaining("rolled back: the last check failed: ERROR: current transaction is aborted");
        assertThat(database.balance(1)).isEqualTo(100);
    }

    @Test
    void aFailureIsForgivenByARollbackToASavepointSetBeforeIt() throws SQLException {
        claim.useTransaction(c -> {
            TestDatabase.write(c, 1, 1);
            Savepoint before = c.setSavepoint();
            assertThatThrownBy(() -> c.createStatement().execute("SELECT 1 / 0"))
                    .isInstanceOf(SQLException.class);
            c.rollback(before);
            Savepoint named = c.setSavepoint("named");
            assertThatThrownBy(() -> c.createStatement().execute("SELECT 1 / 0"))
                    .isInstanceOf(SQLException.class);
            c.rollback(named);
            c.createStatement().execute("SAVEPOINT As_Text");
            assertThatThrownBy(() -> c.createStatement().execute("SELECT 1 / 0"))
                    .isInstanceOf(SQLException.class);
            try (PreparedStatement back = c.prepareStatement("ROLLBACK TO SAVEPOINT as_text")) {
                back.execute();
            }
        });

        assertThat(database.balance(1)).isEqualTo(1);
    }

    @Test
    void aFailureIsNotForgivenByALaterSavepoint() {
        assertThatThrownBy(() -> claim.useTransaction(c -> {
                    TestDatabase.write(c, 1, 1);
                    // Refused by the driver, so the server goes on and takes a savepoint.
                    assertThatThrownBy(() -> c.prepareStatement("SELECT ?").setInt(9, 1))
                            .isInstanceOf(SQLException.class);
                    c.rollback(c.setSavepoint());
                }))
                .isInstanceOf(TransactionRolledBackException.class)
                .hasMessageContaining("a statement failed, and the work went on");
        assertThat(database.balance(1)).isEqualTo(100);
    }

    @Test
    void aConnectionKeptBeyondItsTransactionIsRefusedOnEveryPath() throws SQLException {
        AtomicReference<Connection> kept = new AtomicReference<>();
        AtomicReference<PreparedStatement> keptStatement = new AtomicReference<>();
        claim.useTransaction(c -> {
            kept.set(c);
            keptStatement.set(c.prepareStatement("UPDATE account SET balance = 0"));
        });

        assertThatThrownBy(() -> TestDatabase.write(kept.get(), 1, 0))
                .isInstanceOf(UnfencedWriteException.class)
                .hasMessage("Use of a connection on " + resource
                        + " refused: the fenced transaction that it belonged to has"
                        + " ended, and nothing protects a write any more. Keep the connection inside the work.");
        assertThatThrownBy(() -> keptStatement.get().executeUpdate()).isInstanceOf(UnfencedWriteException.class);
        assertThatThrownBy(() -> kept.get().commit()).isInstanceOf(UnfencedWriteException.class);
        assertThat(kept.get().isClosed()).isTrue();
        kept.get().close();
        assertThat(database.balance(1)).isEqualTo(100);
    }

    @Test
    void aConstraintThatRefusesTheCommitRollsBackForCertain() {
        database.execute("CREATE TABLE IF NOT EXISTS child (id int, account int REFERENCES account DEFERRABLE INITIALLY"
                + " DEFERRED)");

        assertThatThrownBy(() -> claim.useTransaction(c -> {
                    TestDatabase.write(c, 1, 0);
                    c.createStatement().execute("INSERT INTO child VALUES (1, 999)");
                }))
                .isInstanceOf(TransactionRolledBackException.class)
                .hasMessageContaining(
                        "rolled back: the commit was refused: ERROR: insert or update on table \"child\" violates"
                                + " foreign key constraint")
                .hasMessageContaining("Nothing of it happened.");
        assertThat(database.balance(1)).isEqualTo(100);
    }

    @Test
    void aTransactionInsideAnotherOneOfItsLockIsRefusedInsteadOfWaitingForItself() throws SQLException {
        Claim<Connection> resumed = PostgresFence.on(database.source()).resume(claim.token());
        for (Claim<Connection> inner : java.util.List.of(claim, resumed)) {
            claim.useTransaction(c -> {
                assertThatThrownBy(() -> inner.useTransaction(other -> TestDatabase.write(other, 1, 0)))
                        .isInstanceOf(IllegalStateException.class)
                        .hasMessage("Transaction under token " + claim.token() + " on " + resource
                                + " refused: this thread is inside a transaction under token " + claim.token()
                                + " of the same lock, and would wait for itself. Use the connection or handle that the work of"
                                + " that one was given, or do this before it begins or after it has ended.");
                TestDatabase.write(c, 1, 90);
            });
        }
        Claim<Connection> another = PostgresFence.on(database.source()).claim(Grants.next(Grants.freshLock()));
        claim.useTransaction(c -> another.useTransaction(other -> TestDatabase.write(other, 1, 80)));
        assertThat(database.balance(1)).isEqualTo(80);
    }

    @Test
    void exceptionsOfTheUserComeOutAsTheyAre() {
        var checked = new java.io.IOException("checked");
        var unchecked = new IllegalArgumentException("unchecked");
        var error = new AssertionError("error");
        assertThatThrownBy(() -> claim.useTransaction(c -> {
                    TestDatabase.write(c, 1, 0);
                    throw checked;
                }))
                .isSameAs(checked)
                .hasNoSuppressedExceptions();
        assertThatThrownBy(() -> claim.useTransaction(c -> {
                    TestDatabase.write(c, 1, 0);
                    throw unchecked;
                }))
                .isSameAs(unchecked)
                .hasNoSuppressedExceptions();
        assertThatThrownBy(() -> claim.useTransaction(c -> {
                    TestDatabase.write(c, 1, 0);
                    throw error;
                }))
                .isSameAs(error)
                .hasNoSuppressedExceptions();
        assertThat(database.balance(1)).isEqualTo(100);
    }

    @Test
    void aFailedStatementOfTheUserComesOutAsTheDriversException() {
        assertThatThrownBy(() -> claim.useTransaction(c -> {
                    TestDatabase.write(c, 1, 0);
                    c.createStatement().execute("INSERT INTO account VALUES (1, 1)");
                }))
                .isInstanceOfSatisfying(
                        org.postgresql.util.PSQLException.class,
                        e -> assertThat(e.getSQLState()).isEqualTo("23505"));
        assertThat(database.balance(1)).isEqualTo(100);
    }
}
