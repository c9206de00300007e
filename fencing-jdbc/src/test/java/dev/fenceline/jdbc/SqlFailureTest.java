package dev.fenceline.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Savepoint;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.postgresql.util.PSQLException;
import org.postgresql.util.ServerErrorMessage;

/** What became of a session is told by facts, not by words. */
@Tag("server")
class SqlFailureTest {

    static TestDatabase database;

    Claim<Connection> claim;

    @BeforeAll
    static void create() {
        database = TestDatabase.create();
    }

    @BeforeEach
    void claimed() {
        claim = PostgresFence.on(database.source()).claim(Grants.next(Grants.freshLock()));
        database.account(1, 100);
    }

    @Test
    void anErrorAboutAnotherServersConnectionDoesNotEndOurs() throws SQLException {
        String remoteIsDown = "DO $$ BEGIN RAISE EXCEPTION 'foreign server is down' USING ERRCODE = '08001'; END $$";
        claim.useTransaction(c -> {
            Savepoint before = c.setSavepoint();
            assertThatThrownBy(() -> c.createStatement().execute(remoteIsDown)).isInstanceOf(SQLException.class);
            c.rollback(before);
            TestDatabase.write(c, 1, 5);
        });
        assertThat(database.balance(1)).isEqualTo(5);

        assertThatThrownBy(() -> claim.useTransaction(c -> c.createStatement().execute(remoteIsDown)))
                .isInstanceOfSatisfying(
                        PSQLException.class, e -> assertThat(e.getSQLState()).isEqualTo("08001"))
                .hasNoSuppressedExceptions();
    }

    @ParameterizedTest
    @ValueSource(strings = {"ERROR", "FEHLER", "ОШИБКА"})
    void aRefusedCommitIsKnownByFactsInEveryLanguage(String severity) throws SQLException {
        var said = new PSQLException(new ServerErrorMessage("S" + severity + "\0VERROR\0C23503\0Mviolated\0"));
        try (Connection connection = database.source().getConnection()) {
            assertThat(SqlFailure.isRefusal(said, connection)).isTrue();
            connection.setAutoCommit(false);
            TestDatabase.read(connection, 1);
            assertThat(SqlFailure.isRefusal(said, connection)).as("not ended").isFalse();
        }
        Connection gone = database.source().getConnection();
        gone.close();
        assertThat(SqlFailure.isRefusal(said, gone)).isFalse();
    }
}
