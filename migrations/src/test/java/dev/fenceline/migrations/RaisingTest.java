package dev.fenceline.migrations;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.fenceline.BackendMisconfiguredException;
import dev.fenceline.FencingToken;
import dev.fenceline.LockName;
import dev.fenceline.StaleTokenException;
import java.sql.Connection;
import java.sql.Statement;
import java.time.Duration;
import java.util.UUID;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A raised mark says whose doing it is, and raising it depends on nobody's settings and stands in nobody's way. */
@Tag("server")
class RaisingTest {

    private static final LockName ACCOUNT = LockName.of("account", 42);
    private static final String A = "a0000000-0000-4000-8000-000000000001";
    private static final String B = "b0000000-0000-4000-8000-000000000002";

    Database database;
    FenceOperations operations;

    @BeforeEach
    void install() {
        database = Database.prepared();
        operations = FenceOperations.on(database.source());
    }

    /** The form that StaleTokenException reads, too. */
    @Test
    void whoIsRefusedByARaisedMarkIsToldThatAnOperatorDidIt() {
        database.execute(claim(7, A));
        Mark mark = operations.raise(ACCOUNT);

        assertThat(mark.token().holder().toString())
                .matches("[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-726169736564");
        String operator =
                "Hint: An operator has raised the mark, which shut out every earlier holder. Stop, and do not retry"
                        + " with this token: acquire the lock anew";
        assertThatThrownBy(() -> Database.run(database.source(), enter(7, A))).hasMessageContaining(operator);
        assertThatThrownBy(() -> Database.run(database.source(), "CALL fenceline.claim('account:42', 8, '" + B + "')"))
                .hasMessageContaining(operator);
        assertThat(new StaleTokenException(
                                "Claim", "guard", new FencingToken(ACCOUNT, 7, new UUID(1, 1)), mark.token(), null)
                        .byOperator())
                .isTrue();
        assertThat(operations.raise(ACCOUNT).token().holder())
                .as("fresh each time")
                .isNotEqualTo(mark.token().holder());
    }

    /** An upgrade that changes that table would wait for the raising, and everybody else for the upgrade. */
    @Test
    void whileARaisingWaitsNobodyWaitsForItsRecord() throws Exception {
        database.execute(claim(7, A));
        try (Connection holder = database.named("sleeper").getConnection();
                Statement statement = holder.createStatement();
                Work operator = Work.of(() -> FenceOperations.on(database.named("operator"))
                        .waitAtMost(Duration.ofMinutes(1))
                        .raise(ACCOUNT))) {
            holder.setAutoCommit(false);
            statement.execute(enter(7, A));
            operator.go().awaitWaiting(database, "operator");

            database.execute("BEGIN; SET LOCAL lock_timeout = '5s';"
                    + " LOCK TABLE fenceline.raising IN ACCESS EXCLUSIVE MODE; ROLLBACK");
            holder.rollback();

            assertThat(operator.result())
                    .isInstanceOfSatisfying(
                            Mark.class, mark -> assertThat(mark.raised()).isTrue());
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"repeatable read", "serializable"})
    void theIsolationThatADatabaseGivesByDefaultFailsNoRaising(String isolation) throws Exception {
        database.execute(claim(7, A) + "; ALTER DATABASE " + database.name() + " SET default_transaction_isolation = '"
                + isolation + "'");
        try (Connection holder = database.named("sleeper").getConnection();
                Statement statement = holder.createStatement();
                Work operator = Work.of(
                        () -> FenceOperations.on(database.named("operator")).raise(ACCOUNT))) {
            holder.setAutoCommit(false);
            holder.setTransactionIsolation(Connection.TRANSACTION_READ_COMMITTED);
            statement.execute(enter(7, A));
            operator.go().awaitWaiting(database, "operator");
            holder.commit();

            assertThat(operator.result())
                    .isInstanceOfSatisfying(
                            Mark.class, mark -> assertThat(mark.raised()).isTrue());
        }
    }

    @Test
    void aMarkThatCannotBeHigherIsRefusedAndSaysWhatToDo() {
        database.execute("INSERT INTO fenceline.guard VALUES ('account:42', 9007199254740991, '" + A + "', now(), '')");

        assertThatThrownBy(() -> operations.raise(ACCOUNT))
                .isInstanceOf(BackendMisconfiguredException.class)
                .hasMessage(
                        "Raising the mark of lock 'account:42' failed: ERROR: Raising the mark of lock 'account:42' refused: it is"
                                + " token 9007199254740991/a0000000, and no mark can be higher (SQLSTATE FL013). No fence has claimed it: find out"
                                + " who wrote it. Then, with all who use this lock stopped, the owner of the schema sets it to the present by"
                                + " hand, with trigger keep_mark disabled for that statement.");
    }

    private static String claim(long token, String holder) {
        return "SELECT * FROM fenceline.claim_v1('account:42', " + token + ", '" + holder + "', 1000)";
    }

    private static String enter(long token, String holder) {
        return "SELECT fenceline.enter('account:42', " + token + ", '" + holder + "')";
    }
}
