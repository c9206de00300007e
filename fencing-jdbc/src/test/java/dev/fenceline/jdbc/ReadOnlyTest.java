package dev.fenceline.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.fenceline.BackendMisconfiguredException;
import dev.fenceline.BackendUnavailableException;
import dev.fenceline.FencelineEvent.StaleRefused;
import dev.fenceline.FencelineEvent.WriteEnded;
import dev.fenceline.OutcomeUnknownException;
import dev.fenceline.StaleTokenException;
import dev.fenceline.TransactionRolledBackException;
import dev.fenceline.UnfencedWriteException;
import java.sql.Connection;
import java.sql.SQLException;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.postgresql.jdbc.PgConnection;

/** A reader sees one state, in which the marks were its own; it waits for nobody and writes nothing. */
@Tag("server")
class ReadOnlyTest extends TwoGrants {

    final RecordedEvents events = new RecordedEvents();
    PostgresFence fence;

    @BeforeEach
    void fence() {
        fence = PostgresFence.on(database.source()).listener(events);
        database.account(2, 100);
    }

    private static String shown(Connection connection, String setting) throws SQLException {
        try (var row = connection.createStatement().executeQuery("SHOW " + setting)) {
            row.next();
            return row.getString(1);
        }
    }

    @Test
    void itShowsTheStateAtItsEnteringThoughANewerHolderWrites() throws SQLException {
        Claim<Connection> claim = fence.claim(older);

        long sum = claim.readOnly(c -> {
            long first = TestDatabase.read(c, 1);
            fence.claim(newer).useTransaction(other -> TestDatabase.write(other, 2, 0));
            return first + TestDatabase.read(c, 2);
        });

        assertThat(sum).as("one version").isEqualTo(200);
        assertThat(events.of(WriteEnded.class)).as("of the newer holder alone").hasSize(1);
        assertThatThrownBy(() -> claim.readOnly(c -> TestDatabase.read(c, 1)))
                .isInstanceOf(StaleTokenException.class)
                .hasMessageContaining("token " + older + " is older by");
        assertThat(events.of(StaleRefused.class)).hasSize(1);
    }

    @Test
    void withoutASnapshotTheTwoReadsWouldBeOfTwoStates() throws SQLException {
        // The control: an unlocked check at READ COMMITTED.
        fence.claim(older);
        try (Connection c = database.source().getConnection()) {
            c.setAutoCommit(false);
            GuardSql.marks(c, Tokens.of(older));
            long first = TestDatabase.read(c, 1);
            fence.claim(newer).useTransaction(other -> TestDatabase.write(other, 2, 0));
            assertThat(first + TestDatabase.read(c, 2)).as("half old, half new").isEqualTo(100);
        }
    }

    @Test
    void itWaitsForNobodyAndNobodyWaitsForIt() throws SQLException {
        Claim<Connection> claim = fence.claim(older);
        var impatient = database.sourceNamed("impatient");
        impatient.setOptions("-c lock_timeout=1");
        Claim<Connection> reader = PostgresFence.on(impatient).resume(older);

        claim.useTransaction(c -> {
            TestDatabase.write(c, 1, 0);
            assertThat((long) reader.readOnly(other -> TestDatabase.read(other, 1)))
                    .isEqualTo(100);
        });
        assertThat((long) reader.readOnly(c -> {
                    long read = TestDatabase.read(c, 1);
                    JdbcWork.add(claim, 1, 10);
                    PostgresFence.on(impatient).claim(newer);
                    return read;
                }))
                .isZero();
        assertThat(database.mark(older)).isEqualTo(newer);
    }

    @ParameterizedTest
    @EnumSource(Isolation.class)
    void itIsRepeatableReadOrSerializableWhateverTheFenceSays(Isolation isolation) throws SQLException {
        Claim<Connection> claim = fence.isolation(isolation).claim(older);

        claim.readOnly(c -> {
            // What the work sets in front does not make a writer of it.
            c.createStatement().execute("SET TRANSACTION ISOLATION LEVEL READ COMMITTED, READ WRITE");
            assertThat(TestDatabase.read(c, 1)).isEqualTo(100);
            assertThat(shown(c, "transaction_isolation"))
                    .isEqualTo(isolation == Isolation.SERIALIZABLE ? "serializable" : "repeatable read");
            return true;
        });
        assertThatThrownBy(() -> claim.readOnly(c -> {
                    TestDatabase.read(c, 1);
                    return c.createStatement().execute("SET TRANSACTION READ WRITE");
                }))
                .isInstanceOf(SQLException.class)
                .hasMessageContaining("transaction read-write mode must be set before any query");
    }

    @Test
    void aWriteFailsWithTheDriversException() {
        Claim<Connection> claim = fence.claim(older);

        assertThatThrownBy(() -> claim.readOnly(c -> TestDatabase.write(c, 1, 0)))
                .isInstanceOfSatisfying(
                        SQLException.class, e -> assertThat(e.getSQLState()).isEqualTo("25006"));
        assertThat(database.balance(1)).isEqualTo(100);
    }

    @Test
    void aFailureThatWasSwallowedIsToldSinceNotEverythingWasRead() {
        Claim<Connection> claim = fence.claim(older);

        assertThatThrownBy(() -> claim.readOnly(c -> {
                    assertThatThrownBy(() -> c.createStatement().execute("SELECT 1 / 0"))
                            .isInstanceOf(SQLException.class);
                    return true;
                }))
                .isInstanceOf(TransactionRolledBackException.class)
                .hasMessageContaining("division by zero");
    }

    @Test
    void anInnerEndIsFoundThoughReadersLeaveNoTrace() {
        Claim<Connection> claim = fence.claim(older);

        assertThatThrownBy(() -> claim.readOnly(
                        c -> c.createStatement().execute("SELECT 1; COMMIT; BEGIN; UPDATE account SET balance = 7")))
                .isInstanceOf(UnfencedWriteException.class)
                .hasMessageContaining("was ended from within, by a COMMIT or ROLLBACK");
        assertThatThrownBy(() -> claim.readOnly(c -> {
                    c.createStatement().execute("SELECT 1; COMMIT; UPDATE account SET balance = 8");
                    throw new IllegalStateException("of the user");
                }))
                .isInstanceOf(IllegalStateException.class)
                .satisfies(
                        e -> assertThat(e.getSuppressed()).singleElement().isInstanceOf(UnfencedWriteException.class));
        assertThat(database.balance(1)).as("it was told truthfully").isEqualTo(8);
        assertThatThrownBy(() -> claim.readOnly(c -> {
                    terminate(c, c.unwrap(PgConnection.class).getBackendPID());
                    return TestDatabase.read(c, 1);
                }))
                .isInstanceOf(OutcomeUnknownException.class)
                .hasMessageContaining("a transaction that began by reading leaves no trace");
    }

    @Test
    void aLostConnectionIsUnavailableAndAtTheEndItIsNothing() throws SQLException {
        Claim<Connection> claim = fence.claim(older);

        assertThatThrownBy(() -> claim.readOnly(c -> {
                    terminate(c, pid(c));
                    return TestDatabase.read(c, 1);
                }))
                .isInstanceOf(BackendUnavailableException.class)
                .hasMessageContaining("Nothing of it was committed. The mark is " + older);
        assertThat((long) claim.readOnly(c -> {
                    long read = TestDatabase.read(c, 1);
                    terminate(c, pid(c));
                    return read;
                }))
                .as("what was read stands")
                .isEqualTo(100);
    }

    private static int pid(Connection c) throws SQLException {
        try (var row = c.createStatement().executeQuery("SELECT pg_backend_pid()")) {
            row.next();
            return row.getInt(1);
        }
    }

    private static void terminate(Connection c, int pid) throws SQLException {
        assertThat(c.isClosed()).isFalse();
        database.execute("SELECT pg_terminate_backend(" + pid + ")");
        TestDatabase.await(
                "session " + pid + " has ended",
                () -> database.number("SELECT count(*) FROM pg_stat_activity WHERE pid = " + pid) == 0);
    }

    // A transaction that its work makes read-only.

    @Test
    void aTransactionThatIsMadeReadOnlyEntersByReading() throws SQLException {
        Claim<Connection> claim = fence.claim(older);
        assertThat((long) claim.inTransaction(c -> {
                    c.setReadOnly(true);
                    return TestDatabase.read(c, 1);
                }))
                .isEqualTo(100);
        assertThatThrownBy(() -> claim.useTransaction(c -> {
                    c.createStatement().execute("SET TRANSACTION READ ONLY");
                    TestDatabase.write(c, 1, 0);
                }))
                .isInstanceOfSatisfying(
                        SQLException.class, e -> assertThat(e.getSQLState()).isEqualTo("25006"));
        assertThat(database.balance(1)).isEqualTo(100);
    }

    @Test
    void madeReadOnlyAtReadCommittedItChecksAgainAtItsEnd() {
        Claim<Connection> claim = fence.claim(older);

        assertThatThrownBy(() -> claim.useTransaction(c -> {
                    c.setReadOnly(true);
                    assertThat(TestDatabase.read(c, 1)).isEqualTo(100);
                    overtake();
                }))
                .isInstanceOf(StaleTokenException.class)
                .hasMessageContaining("token " + older + " is older by");
    }

    @Test
    void aSessionThatIsReadOnlyByItselfIsRefusedToWriters() throws SQLException {
        fence.claim(older);
        var source = database.sourceNamed("read-only");
        source.setOptions("-c default_transaction_read_only=on");
        Claim<Connection> claim = PostgresFence.on(source).resume(older);

        assertThatThrownBy(() -> claim.useTransaction(c -> TestDatabase.write(c, 1, 0)))
                .isInstanceOf(BackendMisconfiguredException.class)
                .hasMessage(
                        "Transaction on PostgreSQL guard '" + older.lock() + "' refused: the session is read-only. Set"
                                + " default_transaction_read_only = off for this role, and readOnly=false in the data source; or use"
                                + " readOnly of the claim.");
        assertThatThrownBy(() -> claim.update("UPDATE account SET balance = 0"))
                .isInstanceOf(BackendMisconfiguredException.class)
                .hasMessageContaining("(SQLSTATE 25006). The session is read-only");
        assertThat((long) claim.readOnly(c -> TestDatabase.read(c, 1))).isEqualTo(100);
    }
}
