package dev.fenceline.migrations;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.tuple;

import dev.fenceline.BackendMisconfiguredException;
import dev.fenceline.LockName;
import dev.fenceline.OutcomeUnknownException;
import dev.fenceline.testkit.ChildJvm;
import dev.fenceline.testkit.SharedServers;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.postgresql.ds.PGSimpleDataSource;

/** A database whose marks are of an earlier time admits nobody of that time, once its marks are raised. */
@Tag("server")
class AfterRestoreTest {

    private static final String A = "a0000000-0000-4000-8000-000000000001";
    private static final String B = "b0000000-0000-4000-8000-000000000002";
    private static final String UNRAISED_ROWS =
            "SELECT count(*) FROM %s WHERE fence_token > 0 AND fence_holder NOT IN (SELECT holder FROM fenceline.raising)";

    Database database;
    FenceOperations operations;

    @BeforeEach
    void prepare() {
        database = Database.prepared();
        operations = FenceOperations.on(database.source());
    }

    /** What is done between the restore of old marks and the first writer. */
    enum Afterwards {
        NOTHING,
        ALL_MARKS_RAISED
    }

    /**
     * A claims and reads, and the marks are saved. B claims and writes. The old marks are restored. A wakes up, and writes what it has
     * computed from what it read.
     */
    @ParameterizedTest
    @EnumSource(Afterwards.class)
    void aHolderOfBeforeTheDumpLosesAnUpdateOfALaterOneUnlessTheMarksAreRaised(Afterwards afterwards)
            throws SQLException {
        database.execute("CREATE TABLE account (id int PRIMARY KEY, balance int); INSERT INTO account VALUES (42, 100);"
                + claim(5, A));
        int readByA = balance();
        dumpMarks();
        database.execute(claim(6, B));
        database.execute("BEGIN; " + enter(6, B) + "; UPDATE account SET balance = balance + 50; COMMIT");
        restoreMarks();
        if (afterwards == Afterwards.ALL_MARKS_RAISED) {
            assertThat(operations.afterRestore(batch -> {}).isComplete()).isTrue();
        }

        String lateWrite =
                "BEGIN; " + enter(5, A) + "; UPDATE account SET balance = " + (readByA + 10) + " WHERE id = 42; COMMIT";
        if (afterwards == Afterwards.NOTHING) {
            database.execute(lateWrite);
            // The 50 are lost: what everybody works for to prevent.
            assertThat(balance()).isEqualTo(110);
        } else {
            assertThatThrownBy(() -> Database.run(database.source(), lateWrite))
                    .hasMessageContaining("Fenced work under token 5 of lock 'account:42' refused");
            assertThat(balance()).isEqualTo(150);
        }
    }

    /** The same in row mode, where a table is restored with the marks of its rows, and then brought up to date by hand. */
    @ParameterizedTest
    @EnumSource(Afterwards.class)
    void aRowsHolderOfBeforeTheDumpLosesAnUpdateUnlessTheMarksAreRaised(Afterwards afterwards) {
        database.marked("account", "id int PRIMARY KEY, balance int");
        database.execute("INSERT INTO account VALUES (42, 100, 5, '" + A + "'); CREATE TABLE dump AS TABLE account");
        int readByA = balance();
        database.execute(
                "DELETE FROM account; INSERT INTO account TABLE dump; UPDATE account SET balance = balance + 50");
        if (afterwards == Afterwards.ALL_MARKS_RAISED) {
            operations.afterRestore(batch -> {});
        }

        database.execute("UPDATE account SET balance = " + (readByA + 10) + " WHERE id = 42 AND fence_token = 5"
                + " AND fence_holder = '" + A + "'");

        assertThat(balance()).isEqualTo(afterwards == Afterwards.NOTHING ? 110 : 150);
    }

    @Test
    void everyMarkIsRaisedAboveTheClockAndAboveItselfToOneFreshHolder() {
        long far = Long.parseLong(database.rows("SELECT (extract(epoch FROM clock_timestamp()) * 1000000)::bigint")
                        .get(0))
                + Duration.ofHours(3).toMillis() * 1000;
        database.execute("INSERT INTO fenceline.guard SELECT 'account:' || n, n, '" + A
                + "', now(), '' FROM generate_series(1, 1100) n;" + "INSERT INTO fenceline.guard VALUES ('far', " + far
                + ", '" + A + "', now(), '')");
        database.marked("account", "id int PRIMARY KEY, balance int");
        database.execute("INSERT INTO account SELECT n, 0, n, '" + A + "' FROM generate_series(1, 2500) n;"
                + "INSERT INTO account VALUES (0, 0, 0, NULL), (-1, 0, " + far + ", '" + A + "'), (-2, 0, 7, NULL)");
        List<RestoreProgress> batches = new ArrayList<>();

        Restoration restoration = operations.afterRestore(batches::add);

        assertThat(restoration.isComplete()).isTrue();
        assertThat(restoration.raised())
                .containsExactly(
                        new Restoration.Raised("fenceline.guard", 1101),
                        new Restoration.Raised("public.account", 2502));
        assertThat(restoration)
                .hasToString(
                        "fenceline.guard: 1101 marks raised\npublic.account: 2502 marks raised\nAll marks are raised.");
        assertThat(database.rows(
                        "SELECT DISTINCT holder FROM fenceline.guard UNION SELECT DISTINCT fence_holder FROM account"
                                + " WHERE fence_token > 0"))
                .containsExactly(restoration.holder().toString());
        String now = "(extract(epoch FROM clock_timestamp()) * 1000000)::bigint";
        assertThat(database.rows(
                        "SELECT count(*) FROM (SELECT token FROM fenceline.guard UNION ALL SELECT fence_token FROM account"
                                + " WHERE fence_token > 0) m WHERE token <= " + now))
                .containsExactly("0");
        assertThat(database.rows("SELECT token FROM fenceline.guard WHERE lock = 'far'"))
                .containsExactly(far + 1 + "");
        assertThat(database.rows("SELECT fence_token FROM account WHERE id = -1"))
                .containsExactly(far + 1 + "");
        // A row that was never claimed is nobody's, and stays.
        assertThat(database.rows("SELECT fence_token FROM account WHERE id = 0"))
                .containsExactly("0");
        assertThat(batches)
                .containsExactly(
                        new RestoreProgress("fenceline.guard", 500, 500, false),
                        new RestoreProgress("fenceline.guard", 1000, 1000, false),
                        new RestoreProgress("fenceline.guard", 1101, 1101, true),
                        new RestoreProgress("public.account", 1000, 999, false),
                        new RestoreProgress("public.account", 2000, 1999, false),
                        new RestoreProgress("public.account", 2503, 2502, true));
    }

    @Test
    void aRunThatWasKilledIsFinishedByTheNext() {
        database.marked("account", "id int PRIMARY KEY, balance int");
        database.execute(
                "INSERT INTO account SELECT n, 0, n, '" + A + "' FROM generate_series(1, 3500) n;" + claim(7, A));

        try (ChildJvm child = ChildJvm.start(
                RaisingProcess.class, SharedServers.postgres().jdbcUrl(database.name()), "public.account", "2000")) {
            child.awaitLine("reached", Duration.ofSeconds(60));
            child.kill();
        }

        assertThat(database.rows(String.format(UNRAISED_ROWS, "account"))).containsExactly("1500");
        // Somebody claims one of the rows that are done, and one lock.
        long next = operations
                        .mark(LockName.of("account", 42))
                        .orElseThrow()
                        .token()
                        .value()
                + 60_000_000;
        database.execute("UPDATE account SET fence_token = " + next + ", fence_holder = '" + B + "' WHERE id = 1");
        Restoration rest = operations.afterRestore(batch -> {});
        assertThat(rest.raised())
                .containsExactly(
                        new Restoration.Raised("fenceline.guard", 1), new Restoration.Raised("public.account", 3500));
        assertThat(holdersOfMarks()).containsExactly(rest.holder().toString());
    }

    /** An operator raises a mark, and it is dumped. Somebody is granted a newer token, wakes up after the restore, and claims with it. */
    @ParameterizedTest
    @EnumSource(Afterwards.class)
    void aGrantThatIsNewerThanARaisingBeforeTheDumpIsRefusedOnceTheMarksAreRaised(Afterwards afterwards) {
        operations.raise(LockName.of("account", 42));
        long raised = operations
                .mark(LockName.of("account", 42))
                .orElseThrow()
                .token()
                .value();
        String claimOfBefore = claim(raised + 1, A);
        if (afterwards == Afterwards.NOTHING) {
            assertThat(database.rows(claimOfBefore)).isNotEmpty();
            assertThat(database.rows("SELECT holder FROM fenceline.guard")).containsExactly(A);
        } else {
            Restoration restoration = operations.afterRestore(batch -> {});
            assertThat(restoration.raised()).containsExactly(new Restoration.Raised("fenceline.guard", 1));
            database.rows(claimOfBefore);
            assertThat(database.rows("SELECT holder FROM fenceline.guard"))
                    .containsExactly(restoration.holder().toString());
        }
    }

    @Test
    void rowsThatAnEarlierRunHasRaisedAreRaisedAgainWithAKeyAndWithout() {
        database.marked("account", "id int PRIMARY KEY, balance int");
        database.marked("no_key", "id int");
        database.execute("INSERT INTO account SELECT n, 0, n, '" + A + "' FROM generate_series(1, 1500) n;"
                + " INSERT INTO no_key VALUES (1, 7, '" + A + "');" + claim(7, A));
        Restoration first = operations.afterRestore(batch -> {});

        Restoration second = operations.afterRestore(batch -> {});

        assertThat(second.raised()).isEqualTo(first.raised());
        assertThat(database.rows("SELECT fence_holder FROM no_key"))
                .containsExactly(second.holder().toString());
        assertThat(holdersOfMarks()).containsExactly(second.holder().toString());
    }

    private List<String> holdersOfMarks() {
        return database.rows("SELECT holder FROM fenceline.guard UNION SELECT fence_holder FROM account");
    }

    @Test
    void aDumpThatHoldsAHalfDoneRunIsRaisedAsAnyOther() {
        database.marked("account", "id int PRIMARY KEY, balance int");
        database.execute("INSERT INTO account SELECT n, 0, n, '" + A + "' FROM generate_series(1, 1500) n");
        operations.afterRestore(batch -> {});
        // Claimed after its page was done, and dumped with it.
        long next = 1
                + Long.parseLong(
                        database.rows("SELECT max(fence_token) FROM account").get(0));
        database.execute("UPDATE account SET fence_token = " + next + ", fence_holder = '" + B + "' WHERE id = 1");

        operations.afterRestore(batch -> {});

        assertThat(database.rows("SELECT fence_token > " + next + " FROM account WHERE id = 1"))
                .containsExactly("t");
    }

    @Test
    void marksInUseAreWaitedForAndThoseThatStayInUseAreLeftAndNamed() throws SQLException {
        database.marked("account", "id int PRIMARY KEY, balance int");
        database.marked("no_key", "id int");
        database.execute("INSERT INTO account SELECT n, 0, n, '" + A + "' FROM generate_series(1, 1500) n;"
                + "INSERT INTO no_key VALUES (1, 7, '" + A + "');" + claim(7, A));
        try (Connection holder = database.named("sleeper").getConnection();
                Statement statement = holder.createStatement()) {
            holder.setAutoCommit(false);
            statement.execute(enter(7, A));
            statement.execute("UPDATE account SET balance = 1 WHERE id = 1200; UPDATE no_key SET id = 2");

            Restoration restoration =
                    operations.waitAtMost(Duration.ofMillis(100)).afterRestore(batch -> {});

            assertThat(restoration.isComplete()).isFalse();
            assertThat(restoration.left())
                    .extracting(Restoration.Left::relation, Restoration.Left::mark)
                    .containsExactly(
                            tuple("fenceline.guard", "lock 'account:42'"),
                            tuple("public.account", "rows after key (1000)"),
                            tuple("public.no_key", "rows from the first on"));
            assertThat(restoration.left())
                    .allSatisfy(left ->
                            assertThat(left.reason()).contains("in use by pid ").contains("(application 'sleeper'"));
            // Whoever is not in the way is not waited for.
            assertThat(database.rows(String.format(UNRAISED_ROWS, "account"))).containsExactly("1");
            assertThat(restoration.toString())
                    .contains(
                            "\npublic.account: NOT raised: rows after key (1000), for 100 ms they were in use by pid ")
                    .endsWith("\nRun it again for the marks that are left.");
            holder.rollback();
        }
        assertThat(operations.afterRestore(batch -> {}).isComplete()).isTrue();
        assertThat(database.rows(String.format(UNRAISED_ROWS, "account"))).containsExactly("0");
    }

    @Test
    void rowsThatAPolicyHidesAreAnErrorAndNotPassedOver() {
        database.marked("account", "id int PRIMARY KEY, balance int");
        String role = database.newRole("night_");
        FenceMigrations.on(database.source()).grantOperationsTo(role);
        database.execute("INSERT INTO account VALUES (1, 0, 7, '" + A
                + "'); ALTER TABLE account ENABLE ROW LEVEL SECURITY;" + " GRANT SELECT, UPDATE ON account TO " + role);

        assertThatThrownBy(() -> FenceOperations.on(database.as(role)).afterRestore(batch -> {}))
                .isInstanceOf(BackendMisconfiguredException.class)
                .hasMessageContaining("query would be affected by row-level security policy for table \"account\"");
        assertThat(operations.afterRestore(batch -> {}).raised()).contains(new Restoration.Raised("public.account", 1));
    }

    @Test
    void aConnectionThatIsLostInBetweenIsToldAndWhatIsCommittedStays() {
        database.marked("account", "id int PRIMARY KEY, balance int");
        database.execute("INSERT INTO account SELECT n, 0, n, '" + A + "' FROM generate_series(1, 1500) n");

        assertThatThrownBy(() -> FenceOperations.on(database.named("dying")).afterRestore(batch -> {
                    if (batch.relation().equals("public.account") && !batch.done()) {
                        database.rows(
                                "SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity WHERE application_name = 'dying'"
                                        + " AND datname = current_database()");
                    }
                }))
                .isInstanceOf(OutcomeUnknownException.class)
                .hasMessageStartingWith("Raising all marks may have happened or not: the connection was lost (")
                .hasMessageEndingWith("). Do it again; twice does no harm.");
        assertThat(database.rows(String.format(UNRAISED_ROWS, "account"))).containsExactly("500");
    }

    /** Raises all marks of a database, until it has looked at so many rows of a table; there it waits to be killed. */
    static final class RaisingProcess {

        private RaisingProcess() {}

        public static void main(String[] args) {
            PGSimpleDataSource source = new PGSimpleDataSource();
            source.setUrl(args[0]);
            FenceOperations.on(source).afterRestore(batch -> {
                if (batch.relation().equals(args[1]) && batch.looked() == Long.parseLong(args[2])) {
                    System.out.println("reached");
                    awaitTheEnd();
                }
            });
        }

        private static void awaitTheEnd() {
            try {
                new java.util.concurrent.CountDownLatch(1).await();
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        }
    }

    private void dumpMarks() {
        database.execute("CREATE TABLE dump AS TABLE fenceline.guard");
    }

    /** As a restore does, which loads data before it creates triggers. */
    private void restoreMarks() {
        database.execute("BEGIN; ALTER TABLE fenceline.guard DISABLE TRIGGER USER; DELETE FROM fenceline.guard;"
                + " INSERT INTO fenceline.guard TABLE dump;"
                + " ALTER TABLE fenceline.guard ENABLE ALWAYS TRIGGER keep_mark, ENABLE ALWAYS TRIGGER keep_row,"
                + " ENABLE ALWAYS TRIGGER keep_table; COMMIT");
    }

    private int balance() {
        return Integer.parseInt(
                database.rows("SELECT balance FROM account WHERE id = 42").get(0));
    }

    private static String claim(long token, String holder) {
        return "SELECT * FROM fenceline.claim_v1('account:42', " + token + ", '" + holder + "', 1000)";
    }

    private static String enter(long token, String holder) {
        return "SELECT fenceline.enter('account:42', " + token + ", '" + holder + "')";
    }
}
