package dev.fenceline.migrations;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.tuple;

import dev.fenceline.BackendMisconfiguredException;
import dev.fenceline.BackendUnavailableException;
import dev.fenceline.LockName;
import dev.fenceline.OutcomeUnknownException;
import dev.fenceline.RetryableConflictException;
import java.io.IOException;
import java.net.ServerSocket;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.postgresql.ds.PGSimpleDataSource;

/** What a person at the database can see and do. */
@Tag("server")
class FenceOperationsTest {

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

    @Test
    void aMarkTellsWhoClaimedLastAndWhen() {
        assertThat(operations.mark(ACCOUNT)).isEmpty();
        Instant before = clock();
        database.execute("SET application_name = 'billing'; " + claim(7, A));

        Mark mark = operations.mark(ACCOUNT).orElseThrow();

        assertThat(mark.token().lock()).isEqualTo(ACCOUNT);
        assertThat(mark.token().value()).isEqualTo(7);
        assertThat(mark.token().holder()).hasToString(A);
        assertThat(mark.claimedBy()).isEqualTo("billing");
        assertThat(mark.claimedAt()).isBetween(before, clock());
        assertThat(mark.raised()).isFalse();
        assertThat(mark).hasToString("7/a0000000 of 'account:42', claimed at " + mark.claimedAt() + " by 'billing'");
    }

    @Test
    void aRaisedMarkIsAboveTheClockAndItsHolderIsNobody() {
        database.execute(claim(7, A));
        Instant before = clock();

        Mark mark = operations.raise(ACCOUNT);

        // S + K: what the lock server may have issued by its clock.
        long ahead = 10_250_000;
        assertThat(mark.token().value()).isBetween(micros(before) + ahead, micros(clock()) + ahead);
        assertThat(mark.raised()).isTrue();
        assertThat(mark.toString()).contains(" of 'account:42', raised at ");
        assertThat(operations.mark(ACCOUNT)).contains(mark);
        assertThat(database.rows("SELECT lock FROM fenceline.raising WHERE holder = '"
                        + mark.token().holder() + "'"))
                .containsExactly("account:42");
    }

    @Test
    void whoWasAdmittedBeforeIsRefusedByARaisedMarkAndAHigherClaimPassesIt() {
        database.execute(claim(7, A));
        Database.execute(database.source(), enter(7, A));

        Mark mark = operations.raise(ACCOUNT);

        assertThatThrownBy(() -> Database.run(database.source(), enter(7, A)))
                .hasMessageContaining("Fenced work under token 7 of lock 'account:42' refused");
        assertThatThrownBy(() -> Database.run(database.source(), "CALL fenceline.claim('account:42', 8, '" + B + "')"))
                .hasMessageContaining("Claim of token 8/b0000000 on lock 'account:42' refused: the mark is token "
                        + mark.token().value());
        database.execute("CALL fenceline.claim('account:42', " + (mark.token().value() + 1) + ", '" + B + "')");
        assertThat(operations.mark(ACCOUNT).orElseThrow().raised()).isFalse();
    }

    @Test
    void raisingGoesAboveAMarkThatIsAheadOfTheClockAndTwiceDoesNoHarm() {
        long ahead = micros(clock()) + Duration.ofHours(2).toMillis() * 1000;
        database.execute(claim(ahead, A));

        assertThat(operations.raise(ACCOUNT).token().value()).isEqualTo(ahead + 1);
        assertThat(operations.raise(ACCOUNT).token().value()).isEqualTo(ahead + 2);
    }

    @Test
    void aLockThatWasNeverClaimedIsShutToGrantsOfBefore() {
        Mark mark = operations.raise(ACCOUNT);

        assertThatThrownBy(() -> Database.run(database.source(), "CALL fenceline.claim('account:42', 8, '" + B + "')"))
                .hasMessageContaining(
                        "refused: the mark is token " + mark.token().value());
    }

    @Test
    void whoWorksUnderTheMarkIsNamedAndRaisingWaitsForHimAsLongAsItIsTold() throws SQLException {
        database.execute(claim(7, A));
        assertThat(operations.blockers(ACCOUNT)).isEmpty();
        try (Connection holder = database.named("sleeper").getConnection();
                Statement statement = holder.createStatement()) {
            holder.setAutoCommit(false);
            statement.execute(enter(7, A));

            List<Blocker> blockers = operations.blockers(ACCOUNT);
            assertThat(blockers).hasSize(1);
            Blocker blocker = blockers.get(0);
            assertThat(blocker.application()).isEqualTo("sleeper");
            assertThat(blocker.pid()).isEqualTo(pid(holder));
            assertThat(blocker.state()).contains("idle in transaction");
            assertThat(blocker.transactionSince().orElseThrow())
                    .isBeforeOrEqualTo(blocker.queryStart().orElseThrow());
            assertThat(blocker.stateSince()).isPresent();
            assertThatThrownBy(
                            () -> operations.waitAtMost(Duration.ofMillis(50)).raise(ACCOUNT))
                    .isInstanceOf(RetryableConflictException.class)
                    .hasMessageStartingWith(
                            "Raising the mark of lock 'account:42' refused: for 50 ms a transaction under it did not end: pid "
                                    + blocker.pid() + " (application 'sleeper', idle in transaction since ")
                    .hasMessageContaining(", in a transaction since "
                            + blocker.transactionSince().orElseThrow())
                    .hasMessageEndingWith(
                            "). Nothing happened. Wait longer, or end that session, which rolls its work back: SELECT"
                                    + " pg_terminate_backend(" + blocker.pid() + ");");
            assertThat(operations.mark(ACCOUNT).orElseThrow().token().value()).isEqualTo(7);
            holder.rollback();
        }
        assertThat(operations.raise(ACCOUNT).raised()).isTrue();
    }

    @Test
    void anOperatorSeesAndRaisesMarksAndCanClaimAndWriteNothing() throws SQLException {
        database.execute(claim(7, A));
        String role = database.newRole("Operator ");
        FenceOperations granted = FenceOperations.on(database.as(role));
        assertThatThrownBy(() -> granted.mark(ACCOUNT))
                .isInstanceOf(BackendMisconfiguredException.class)
                .hasMessage(
                        "Reading the mark of lock 'account:42' failed: ERROR: permission denied for schema fenceline"
                                + " (SQLSTATE 42501). Run FenceMigrations.on(owner).grantOperationsTo(role) as the owner of the schema,"
                                + " and as the owner of tables grant what is missing there; or connect as these owners.");

        FenceMigrations.on(database.source()).grantOperationsTo(role);

        assertThat(granted.mark(ACCOUNT)).isPresent();
        assertThat(granted.blockers(ACCOUNT)).isEmpty();
        assertThat(granted.raise(ACCOUNT).raised()).isTrue();
        assertThat(granted.violations(Duration.ofDays(1))).isEmpty();
        assertThat(granted.afterRestore(batch -> {}).isComplete()).isTrue();
        assertThat(database.rows("SELECT DISTINCT role FROM fenceline.raising")).containsExactly(role);
        for (String sql : List.of(
                claim(Long.MAX_VALUE >> 12, A),
                enter(7, A),
                "UPDATE fenceline.guard SET token = token + 1",
                "DELETE FROM fenceline.raising",
                "DELETE FROM fenceline.violation",
                "INSERT INTO fenceline.raising VALUES ('" + A + "', now(), NULL, '', '', NULL)",
                "SELECT fenceline.bypass('x')",
                "SELECT fenceline.protect('pg_class', 'x', '{}', 'observe')")) {
            assertThatThrownBy(() -> Database.run(database.as(role), sql))
                    .as(sql)
                    .hasMessageContaining("permission denied for ");
        }
        assertThatThrownBy(() ->
                        Database.run(database.as(role), "SELECT fenceline.raise_v1('account:42', '" + A + "', 100)"))
                .hasMessageContaining("Raising refused: '" + A + "' is no holder of a raising");
        String forged = "a0000000-0000-8000-8000-726169736564";
        assertThatThrownBy(() -> Database.run(
                        database.as(role), "SELECT fenceline.raise_v1('account:42', '" + forged + "', 100)"))
                .as("of the form of one, and recorded nowhere")
                .hasMessageContaining("Raising refused: '" + forged + "' is no holder of a raising");
        assertThat(database.rows("SELECT count(*) FROM fenceline.guard WHERE holder = '" + forged + "'"))
                .containsExactly("0");
        assertThatThrownBy(
                        () -> Database.run(database.as(role), "SELECT fenceline.raise_marks_v1('" + A + "', '', 100)"))
                .hasMessageContaining("Raising refused: '" + A + "' is no holder of a raising");
    }

    @Test
    void anOperatorSeesOfOthersWhatPostgresShowsHim() throws SQLException {
        database.execute(claim(7, A));
        String role = database.newRole("night_");
        FenceMigrations.on(database.source()).grantOperationsTo(role);
        FenceOperations granted = FenceOperations.on(database.as(role));
        try (Connection holder = database.named("sleeper").getConnection();
                Statement statement = holder.createStatement()) {
            holder.setAutoCommit(false);
            statement.execute(enter(7, A));

            Blocker poor = granted.blockers(ACCOUNT).get(0);
            assertThat(poor)
                    .hasToString(
                            "pid " + pid(holder)
                                    + " (application 'sleeper'; its state and times are shown to members of pg_read_all_stats alone)");
            database.execute("GRANT pg_read_all_stats TO \"" + role + "\"");
            assertThat(granted.blockers(ACCOUNT).get(0).state()).contains("idle in transaction");
            holder.rollback();
        }
    }

    @Test
    void violationsAreCountedForEachTableOperationApplicationAndRole() {
        database.execute(
                "CREATE TABLE \"Odd\" (id int); SELECT fenceline.protect('\"Odd\"', 'odd', '{id}', 'observe')");
        String app = database.newRole("app_");
        database.execute("GRANT ALL ON \"Odd\" TO " + app);
        Instant before = clock();
        for (int i = 1; i <= 3; i++) {
            database.execute("SET application_name = 'old-shop'; INSERT INTO \"Odd\" VALUES (" + i + ")");
        }
        database.execute("SET application_name = 'old-shop'; DELETE FROM \"Odd\" WHERE id = 2");
        Database.execute(database.as(app), "SET application_name = 'cron'; UPDATE \"Odd\" SET id = 9 WHERE id = 1");
        database.execute(
                "INSERT INTO fenceline.violation (at, relation, operation, needed, entered, application_name, role, transaction)"
                        + " VALUES (clock_timestamp() - interval '25 h', 'public.gone', 'INSERT', 'x', 'none', '', 'old', '1')");

        List<Violations> found = operations.violations(Duration.ofHours(24));

        assertThat(found)
                .extracting(
                        Violations::relation, Violations::operation, Violations::application, Violations::transactions)
                .containsExactly(
                        tuple("public.\"Odd\"", "UPDATE", "cron", 1L),
                        tuple("public.\"Odd\"", "DELETE", "old-shop", 1L),
                        tuple("public.\"Odd\"", "INSERT", "old-shop", 3L));
        Violations inserts = found.get(2);
        assertThat(inserts.first()).isBetween(before, inserts.last());
        assertThat(inserts)
                .hasToString("public.\"Odd\": INSERT by application 'old-shop' as postgres, 3 transactions from "
                        + inserts.first() + " to " + inserts.last()
                        + "; the last needed lock 'odd:3' and had entered none");
        assertThat(found.get(0).role()).isEqualTo(app);
        assertThat(found.get(0).needed()).isEqualTo("the locks 'odd:1' and 'odd:9', between which it moves the row");
        assertThat(operations.violations(Duration.ofHours(26))).hasSize(4);
        assertThatThrownBy(() -> operations.violations(Duration.ZERO))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("Violations of the last PT0S cannot be asked for: name a time.");
    }

    @Test
    void withoutASchemaItIsSaidWhatToRun() {
        FenceOperations bare = FenceOperations.on(Database.empty().source());

        assertThatThrownBy(() -> bare.raise(ACCOUNT))
                .isInstanceOf(BackendMisconfiguredException.class)
                .hasMessage("Raising the mark of lock 'account:42' failed: ERROR: schema \"fenceline\" does not exist"
                        + " (SQLSTATE 3F000). This database has no fence schema of this release: run"
                        + " FenceMigrations.on(owner).install() once.");
        assertThatThrownBy(() -> bare.violations(Duration.ofDays(1)))
                .isInstanceOf(BackendMisconfiguredException.class)
                .hasMessageContaining("relation \"fenceline.violation\" does not exist (SQLSTATE 42P01)");
    }

    @Test
    void withoutADatabaseNothingIsSaidToHaveHappened() throws IOException {
        PGSimpleDataSource nowhere = new PGSimpleDataSource();
        try (ServerSocket free = new ServerSocket(0)) {
            nowhere.setPortNumbers(new int[] {free.getLocalPort()});
        }

        assertThatThrownBy(() -> FenceOperations.on(nowhere).mark(ACCOUNT))
                .isInstanceOf(BackendUnavailableException.class)
                .hasMessageStartingWith("Reading the mark of lock 'account:42' failed: the database cannot be reached"
                        + " (Connection to localhost:");
        assertThatThrownBy(() -> FenceOperations.on(nowhere).raise(ACCOUNT))
                .isInstanceOf(BackendUnavailableException.class)
                .hasMessageStartingWith("Raising the mark of lock 'account:42' failed: the database cannot be reached");
    }

    @Test
    void anAnswerThatIsLostLeavesItOpenWhetherTheMarkWasRaised() {
        PGSimpleDataSource dying = database.named("dying");
        database.execute(claim(7, A));
        database.execute("CREATE FUNCTION die() RETURNS trigger LANGUAGE plpgsql AS"
                + " $$ BEGIN PERFORM pg_terminate_backend(pg_backend_pid()); RETURN NULL; END $$;"
                + " CREATE TRIGGER die AFTER UPDATE ON fenceline.guard FOR EACH ROW EXECUTE FUNCTION die()");

        assertThatThrownBy(() -> FenceOperations.on(dying).raise(ACCOUNT))
                .isInstanceOf(OutcomeUnknownException.class)
                .hasMessageStartingWith(
                        "Raising the mark of lock 'account:42' may have happened or not: the connection was lost (")
                .hasMessageEndingWith("). Do it again; twice does no harm.");
    }

    @ParameterizedTest
    @ValueSource(strings = {"synchronous_commit=off", "default_transaction_read_only=on"})
    void aMarkIsNotRaisedWhereACrashCouldForgetIt(String option) {
        PGSimpleDataSource unsafe = database.named("unsafe");
        unsafe.setOptions("-c " + option);

        assertThatThrownBy(() -> FenceOperations.on(unsafe).raise(ACCOUNT))
                .isInstanceOf(BackendMisconfiguredException.class)
                .hasMessageStartingWith("Raising the mark of lock 'account:42' failed: ERROR: ")
                .hasMessageContaining("for this role");
        assertThat(operations.mark(ACCOUNT)).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(longs = {0, -1, 86_400_001})
    void aWaitOutsideOfItsBoundsIsRefused(long millis) {
        assertThatThrownBy(() -> operations.waitAtMost(Duration.ofMillis(millis)))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageEndingWith(" is not between a millisecond and a day.");
    }

    private static String claim(long token, String holder) {
        return "SELECT * FROM fenceline.claim_v1('account:42', " + token + ", '" + holder + "', 1000)";
    }

    private static String enter(long token, String holder) {
        return "SELECT fenceline.enter('account:42', " + token + ", '" + holder + "')";
    }

    private static int pid(Connection connection) throws SQLException {
        return connection.unwrap(org.postgresql.PGConnection.class).getBackendPID();
    }

    private Instant clock() {
        return Instant.parse(database.rows(
                        "SELECT to_char(clock_timestamp() AT TIME ZONE 'UTC', 'YYYY-MM-DD\"T\"HH24:MI:SS.US\"Z\"')")
                .get(0));
    }

    private static long micros(Instant at) {
        return at.getEpochSecond() * 1_000_000 + at.getNano() / 1000;
    }
}
