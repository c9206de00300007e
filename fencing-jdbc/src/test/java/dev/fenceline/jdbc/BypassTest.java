package dev.fenceline.jdbc;

import static dev.fenceline.jdbc.ProtectedBank.enter;
import static dev.fenceline.jdbc.ProtectedBank.run;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.fenceline.FencingToken;
import dev.fenceline.migrations.FenceMigrations;
import java.io.IOException;
import java.io.StringReader;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.postgresql.PGConnection;

/** Whatever a role with rights on a protected table tries without the row's lock is refused, and would pass without the trigger. */
@Tag("server")
class BypassTest {

    private static final String UPDATE = "UPDATE vault SET balance = 0 WHERE id = 1";

    static ProtectedBank bank;

    interface Attack {
        void run(Connection connection) throws Exception;
    }

    /**
     * A way around.
     *
     * @param what for the name of the test
     * @param refusal what the message begins with
     * @param trigger what stops it, as {@code DROP TRIGGER} names it; several after each other
     */
    record Attempt(String what, String refusal, List<String> trigger, Attack attack) {

        @Override
        public String toString() {
            return what;
        }
    }

    @BeforeAll
    static void create() {
        bank = ProtectedBank.create();
    }

    @BeforeEach
    void fill() {
        bank.protect("enforce");
        bank.fill();
    }

    private static Attempt sql(String what, String refusal, String trigger, String... statements) {
        return new Attempt(what, refusal, List.of(trigger), c -> {
            for (String statement : statements) {
                run(c, statement);
            }
        });
    }

    private static Attempt attempt(String what, String refusal, String trigger, Attack attack) {
        return new Attempt(what, refusal, List.of(trigger), attack);
    }

    static Stream<Attempt> attempts() {
        List<Attempt> all = new ArrayList<>(statements());
        all.addAll(settings());
        all.addAll(otherLocks());
        // MERGE came with PostgreSQL 15.
        if (bank.database().number("SHOW server_version_num") >= 150000) {
            all.add(sql(
                    "MERGE",
                    "UPDATE on public.vault refused: it needs lock 'vault:1' (",
                    "fenceline_update ON vault",
                    "MERGE INTO vault USING (VALUES (1)) AS s (id) ON s.id = vault.id"
                            + " WHEN MATCHED THEN UPDATE SET balance = 0"));
        }
        return all.stream();
    }

    private static List<Attempt> statements() {
        return List.of(
                sql(
                        "plain UPDATE",
                        "UPDATE on public.vault refused: it needs lock 'vault:1' (",
                        "fenceline_update ON vault",
                        UPDATE),
                sql(
                        "plain INSERT",
                        "INSERT on public.vault refused: it needs lock 'vault:3' (",
                        "fenceline_insert ON vault",
                        "INSERT INTO vault VALUES (3, 0)"),
                sql(
                        "plain DELETE",
                        "DELETE on public.vault refused: it needs lock 'vault:1' (",
                        "fenceline_delete ON vault",
                        "DELETE FROM vault WHERE id = 1"),
                sql(
                        "UPDATE inside WITH",
                        "UPDATE on public.vault refused",
                        "fenceline_update ON vault",
                        "WITH w AS (" + UPDATE + " RETURNING 1) SELECT count(*) FROM w"),
                sql(
                        "UPDATE through a view",
                        "UPDATE on public.vault refused",
                        "fenceline_update ON vault",
                        "UPDATE vaults SET balance = 0 WHERE id = 1"),
                sql(
                        "UPDATE by a function that runs as the owner",
                        "UPDATE on public.vault refused",
                        "fenceline_update ON vault",
                        "SELECT pay_out()"),
                sql(
                        "ON CONFLICT that updates",
                        "UPDATE on public.vault refused: it needs lock 'vault:1' (",
                        "fenceline_update ON vault",
                        "INSERT INTO vault VALUES (1, 0) ON CONFLICT (id) DO UPDATE SET balance = excluded.balance"),
                sql(
                        "ON CONFLICT that inserts",
                        "INSERT on public.vault refused: it needs lock 'vault:3' (",
                        "fenceline_insert ON vault",
                        "INSERT INTO vault VALUES (3, 0) ON CONFLICT (id) DO UPDATE SET balance = excluded.balance"),
                attempt(
                        "COPY",
                        "INSERT on public.vault refused: it needs lock 'vault:3' (",
                        "fenceline_insert ON vault",
                        BypassTest::copy),
                sql(
                        "DELETE that cascades",
                        "DELETE on public.card refused: it needs lock 'card:1' (",
                        "fenceline_delete ON card",
                        "DELETE FROM customer WHERE id = 1"),
                sql(
                        "UPDATE that cascades",
                        "UPDATE on public.card refused: it needs lock 'card:1' (",
                        "fenceline_update ON card",
                        "UPDATE customer SET id = 2 WHERE id = 1"),
                sql(
                        "UPDATE of a partition",
                        "UPDATE on public.reading_eu refused: it needs lock 'reading:eu:1' (",
                        "fenceline_update ON reading",
                        "UPDATE reading_eu SET value = 0"),
                sql(
                        "UPDATE of a partition that was attached later",
                        "UPDATE on public.reading_us refused: it needs lock 'reading:us:1' (",
                        "fenceline_update ON reading",
                        "UPDATE reading_us SET value = 0"),
                sql(
                        "INSERT into a partitioned table",
                        "INSERT on public.reading_us refused: it needs lock 'reading:us:2' (",
                        "fenceline_insert ON reading",
                        "INSERT INTO reading VALUES ('us', 2, 0)"),
                sql(
                        "INSERT of a row that has no key",
                        "INSERT on public.note refused: it needs lock <none, its key is null>",
                        "fenceline_insert ON note",
                        "INSERT INTO note VALUES (NULL, 'anonymous')"),
                attempt(
                        "TRUNCATE, under a lock",
                        "TRUNCATE on public.vault refused: it needs every lock of class 'vault'",
                        "fenceline_truncate ON vault",
                        c -> {
                            enter(c, bank.claimed("vault", 1));
                            run(c, "TRUNCATE vault");
                        }),
                sql(
                        "TRUNCATE of a partition",
                        "TRUNCATE on public.reading_eu refused",
                        "fenceline_truncate ON reading_eu",
                        "TRUNCATE reading_eu"),
                new Attempt(
                        "TRUNCATE of a partitioned table",
                        "TRUNCATE on public.reading refused",
                        List.of(
                                "fenceline_truncate ON reading",
                                "fenceline_truncate ON reading_eu",
                                "fenceline_truncate ON reading_us"),
                        c -> run(c, "TRUNCATE reading")),
                attempt(
                        "session_replication_role = replica",
                        "UPDATE on public.vault refused",
                        "fenceline_update ON vault",
                        unused -> {
                            // Only a superuser may set it before PostgreSQL 15; the role is the same from then on.
                            try (Connection replica = bank.database().source().getConnection()) {
                                run(replica, "SET session_replication_role = replica");
                                run(replica, "SET ROLE " + bank.role());
                                run(replica, UPDATE);
                            }
                        }));
    }

    private static List<Attempt> settings() {
        return List.of(
                attempt(
                        "next transaction on the same connection",
                        "UPDATE on public.vault refused: it needs lock 'vault:1' (",
                        "fenceline_update ON vault",
                        c -> {
                            enter(c, bank.claimed("vault", 1));
                            run(c, "UPDATE vault SET balance = balance WHERE id = 1");
                            c.commit();
                            run(c, UPDATE);
                        }),
                attempt(
                        "rollback to a savepoint from before entering",
                        "UPDATE on public.vault refused",
                        "fenceline_update ON vault",
                        c -> {
                            FencingToken token = bank.claimed("vault", 1);
                            run(c, "SAVEPOINT before");
                            // fenceline.enter looks for that; what it calls does not.
                            TestDatabase.enter(c, token);
                            run(c, "ROLLBACK TO before");
                            run(c, UPDATE);
                        }),
                attempt(
                        "entering in a block whose exception is caught",
                        "UPDATE on public.vault refused",
                        "fenceline_update ON vault",
                        c -> {
                            FencingToken token = bank.claimed("vault", 1);
                            run(
                                    c,
                                    "DO $$ BEGIN PERFORM fenceline.enter_v1('" + token.lock() + "', " + token.value()
                                            + ", '" + token.holder()
                                            + "', 1000, 1000); RAISE 'undone'; EXCEPTION WHEN raise_exception THEN END $$");
                            run(c, UPDATE);
                        }),
                sql(
                        "a lock's name that was left in the session",
                        "UPDATE on public.vault refused",
                        "fenceline_update ON vault",
                        "SET fenceline.entered = 'vault:1'",
                        "COMMIT",
                        UPDATE),
                attempt(
                        "the setting of an earlier transaction, left in the session",
                        "UPDATE on public.vault refused",
                        "fenceline_update ON vault",
                        c -> {
                            enter(c, bank.claimed("vault", 1));
                            run(
                                    c,
                                    "SELECT set_config('fenceline.entered', current_setting('fenceline.entered'), false)");
                            c.commit();
                            assertThat(text(c, "SHOW fenceline.entered")).endsWith(" vault:1%|");
                            run(c, UPDATE);
                        }),
                attempt(
                        "the bypass of an earlier transaction, left in the session",
                        "UPDATE on public.vault refused",
                        "fenceline_update ON vault",
                        c -> {
                            String earlier = text(c, "SELECT pg_current_xact_id()");
                            c.commit();
                            run(c, "SELECT set_config('fenceline.entered', '%|" + earlier + " *%|', false)");
                            run(c, UPDATE);
                        }),
                attempt(
                        "another session has entered",
                        "UPDATE on public.vault refused",
                        "fenceline_update ON vault",
                        c -> {
                            try (Connection holder = bank.source().getConnection()) {
                                holder.setAutoCommit(false);
                                enter(holder, bank.claimed("vault", 1));
                                run(c, UPDATE);
                            }
                        }));
    }

    private static List<Attempt> otherLocks() {
        return List.of(
                attempt(
                        "wrong lock",
                        "UPDATE on public.vault refused: it needs lock 'vault:1' (",
                        "fenceline_update ON vault",
                        c -> {
                            enter(c, bank.claimed("vault", 2));
                            run(c, UPDATE);
                        }),
                attempt(
                        "a lock whose name begins alike",
                        "UPDATE on public.vault refused: it needs lock 'vault:1' (",
                        "fenceline_update ON vault",
                        c -> {
                            enter(c, bank.claimed("vault", 11));
                            enter(c, bank.claimed("vault", 1, 1));
                            run(c, UPDATE);
                        }),
                attempt(
                        "key moved away from the lock",
                        "UPDATE on public.vault refused: it needs the locks 'vault:1' (",
                        "fenceline_update ON vault",
                        c -> {
                            enter(c, bank.claimed("vault", 1));
                            run(c, "UPDATE vault SET id = 3 WHERE id = 1");
                        }),
                attempt(
                        "key moved to the lock",
                        "UPDATE on public.vault refused: it needs the locks 'vault:1' (",
                        "fenceline_update ON vault",
                        c -> {
                            enter(c, bank.claimed("vault", 3));
                            run(c, "UPDATE vault SET id = 3 WHERE id = 1");
                        }),
                attempt(
                        "key moved by a trigger of the user's",
                        "UPDATE on public.vault refused: it needs the locks 'vault:1' (",
                        "fenceline_update ON vault",
                        c -> {
                            enter(c, bank.claimed("vault", 1));
                            run(c, "UPDATE vault SET balance = 666 WHERE id = 1");
                        }),
                attempt(
                        "row moved to another partition",
                        "INSERT on public.reading_us refused: it needs lock 'reading:us:2' (",
                        "fenceline_insert ON reading",
                        c -> {
                            enter(c, bank.claimed("reading", "eu", 1));
                            run(c, "UPDATE reading SET region = 'us', id = 2 WHERE region = 'eu'");
                        }));
    }

    @ParameterizedTest
    @MethodSource("attempts")
    void isRefusedAndWouldPassWithoutTheTrigger(Attempt attempt) throws Exception {
        String before = bank.contents();

        assertThatThrownBy(() -> runAndCommit(attempt))
                .isInstanceOfSatisfying(
                        SQLException.class, e -> assertThat(e.getSQLState()).isEqualTo("FL001"))
                .hasMessageStartingWith("ERROR: " + attempt.refusal())
                .hasMessageContaining("the locks that this transaction has entered are: ")
                .hasMessageContaining("call fenceline.enter(lock, token, holder) first in this transaction");
        assertThat(bank.contents()).isEqualTo(before);

        for (String trigger : attempt.trigger()) {
            bank.database().execute("DROP TRIGGER " + trigger);
        }
        runAndCommit(attempt);
        assertThat(bank.contents()).as("without the trigger").isNotEqualTo(before);
    }

    private static void runAndCommit(Attempt attempt) throws Exception {
        try (Connection connection = bank.source().getConnection()) {
            connection.setAutoCommit(false);
            attempt.attack().run(connection);
            connection.commit();
        }
    }

    static Stream<Attempt> fencedWrites() {
        List<Attempt> all = new ArrayList<>(List.of(
                fenced("INSERT", "INSERT INTO vault VALUES (3, 0)"),
                fenced("UPDATE", UPDATE),
                fenced("DELETE", "DELETE FROM vault WHERE id = 1"),
                fenced("key moved under both locks", "UPDATE vault SET id = 3 WHERE id = 1"),
                fenced(
                        "ON CONFLICT",
                        "INSERT INTO vault VALUES (1, 0), (3, 0) ON CONFLICT (id) DO UPDATE SET balance = excluded.balance"),
                attempt("COPY", "", "", c -> {
                    enter(c, bank.claimed("vault", 3));
                    copy(c);
                }),
                attempt("cascade", "", "", c -> {
                    enter(c, bank.claimed("card", 1));
                    run(c, "DELETE FROM customer");
                }),
                attempt("partitions", "", "", c -> {
                    enter(c, bank.claimed("reading", "eu", 1));
                    enter(c, bank.claimed("reading", "us", 2));
                    run(c, "UPDATE reading_eu SET value = 0");
                    run(c, "UPDATE reading SET region = 'us', id = 2 WHERE region = 'eu'");
                }),
                attempt("all rows under one lock", "", "", c -> {
                    enter(c, bank.claimed("journal"));
                    run(c, "INSERT INTO journal VALUES ('more')");
                    run(c, "TRUNCATE journal");
                }),
                attempt("a savepoint set after entering", "", "", c -> {
                    enter(c, bank.claimed("vault", 1));
                    run(c, "SAVEPOINT after");
                    run(c, "UPDATE vault SET balance = 7 WHERE id = 1");
                    run(c, "ROLLBACK TO after");
                    run(c, UPDATE);
                })));
        if (bank.database().number("SHOW server_version_num") >= 150000) {
            all.add(
                    fenced(
                            "MERGE",
                            "MERGE INTO vault USING (VALUES (1), (3)) AS s (id) ON s.id = vault.id"
                                    + " WHEN MATCHED THEN UPDATE SET balance = 0 WHEN NOT MATCHED THEN INSERT VALUES (s.id, 0)"));
        }
        return all.stream();
    }

    private static Attempt fenced(String what, String sql) {
        return attempt(what, "", "", c -> {
            enter(c, bank.claimed("vault", 1));
            enter(c, bank.claimed("vault", 3));
            run(c, sql);
        });
    }

    @ParameterizedTest
    @MethodSource("fencedWrites")
    void passesUnderItsLock(Attempt write) throws Exception {
        String before = bank.contents();

        runAndCommit(write);

        assertThat(bank.contents()).isNotEqualTo(before);
    }

    @Test
    void theMessageNamesWhatIsNeededAndWhatWasEntered() throws Exception {
        FencingToken needed = bank.claimed("vault", 1);
        try (Connection connection = bank.source().getConnection()) {
            connection.setAutoCommit(false);
            StringBuilder entered = new StringBuilder();
            for (int id = 2; id <= 7; id++) {
                FencingToken other = bank.claimed("vault", id);
                enter(connection, other);
                if (id <= 5) {
                    entered.append(id == 2 ? "" : ", ").append(text(other));
                }
            }
            assertThatThrownBy(() -> run(connection, UPDATE))
                    .hasMessageContaining("UPDATE on public.vault refused: it needs lock " + text(needed)
                            + ", and the locks that this transaction has entered are: " + entered + " and 2 more\n");
            connection.rollback();
            assertThatThrownBy(() -> run(connection, "INSERT INTO vault VALUES (4711, 0)"))
                    .hasMessageContaining(
                            "it needs lock 'vault:4711' (never claimed), and the locks that this transaction has"
                                    + " entered are: none\n");
        }
    }

    private static String text(FencingToken token) {
        return "'" + token.lock() + "' (token " + token.value() + "/"
                + token.holder().toString().substring(0, 8) + ")";
    }

    @Test
    void aKeyColumnThatWasRenamedIsStillProtected() throws Exception {
        bank.database().execute("ALTER TABLE note RENAME key TO subject");
        try (Connection connection = bank.source().getConnection()) {
            assertThatThrownBy(() -> run(connection, "UPDATE note SET body = 'x'"))
                    .hasMessageContaining("UPDATE on public.note refused: it needs a lock that cannot be named (")
                    .hasMessageContaining("run fenceline.protect again");
            connection.setAutoCommit(false);
            enter(connection, bank.claimed("note", "a"));
            assertThat(run(connection, "UPDATE note SET body = 'x'")).isEqualTo(1);
            connection.rollback();
        } finally {
            bank.database().execute("ALTER TABLE note RENAME subject TO key");
        }
    }

    @Test
    void aPartitionThatWasAttachedLaterCanBeTruncatedUntilItIsProtectedAgain() throws Exception {
        bank.database().execute("DROP TRIGGER IF EXISTS fenceline_truncate ON reading_us");
        try (Connection connection = bank.source().getConnection()) {
            run(connection, "TRUNCATE reading_us");
            bank.protect("enforce");
            assertThatThrownBy(() -> run(connection, "TRUNCATE reading_us"))
                    .hasMessageContaining("TRUNCATE on public.reading_us refused");
        }
    }

    @Test
    void whoForgesTheSettingOwnsTheTableOrIsSuperuserGetsRoundTheFence() throws Exception {
        try (Connection forger = bank.source().getConnection()) {
            forger.setAutoCommit(false);
            run(forger, "SELECT set_config('fenceline.entered', '%|' || pg_current_xact_id() || ' vault:1%|', true)");
            assertThat(run(forger, UPDATE)).isEqualTo(1);
            forger.commit();
        }
        try (Connection owner = bank.database().source().getConnection()) {
            run(owner, "ALTER TABLE vault DISABLE TRIGGER fenceline_delete");
            assertThat(run(owner, "DELETE FROM vault WHERE id = 1")).isEqualTo(1);
            run(owner, "SELECT fenceline.bypass('a superuser needs no grant')");
        }
        assertThat(bank.contents()).startsWith("(2,200) | ");
    }

    @Test
    void noLockIsTakenForABypass() throws Exception {
        String mark = "'*', 1, '0a000000-0000-4000-8000-000000000001', 1000";
        try (Connection connection = bank.source().getConnection()) {
            run(connection, "SELECT fenceline.claim_v1(" + mark + ")");
            connection.setAutoCommit(false);
            assertThatThrownBy(() -> run(connection, "SELECT fenceline.enter_v1(" + mark + ", 1000)"))
                    .hasMessageContaining("Lock name '*' refused: it is not in canonical form");
        }
    }

    @Test
    void aBypassIsGrantedByRoleEndsWithItsTransactionAndIsRecorded() throws Exception {
        String migrator = "migrator_" + bank.database().name();
        bank.database()
                .execute("CREATE ROLE " + migrator + " LOGIN; GRANT SELECT, UPDATE, TRUNCATE ON vault TO " + migrator);
        FenceMigrations.on(bank.database().source()).grantBypassTo(migrator);

        try (Connection plain = bank.source().getConnection()) {
            assertThatThrownBy(() -> run(plain, "SELECT fenceline.bypass('I want to')"))
                    .hasMessageContaining("permission denied for function bypass");
        }
        try (Connection connection = bank.database()
                .server()
                .dataSource(bank.database().name(), migrator)
                .getConnection()) {
            connection.setAutoCommit(false);
            assertThatThrownBy(() -> run(connection, "SELECT fenceline.bypass(' ')"))
                    .hasMessageContaining("Bypass of the fence refused: it gives no reason");
            connection.rollback();
            run(connection, "SELECT fenceline.bypass('ticket 4711: balances anew')");
            assertThat(run(connection, "UPDATE vault SET balance = 1")).isEqualTo(2);
            run(connection, "TRUNCATE vault");
            connection.commit();
            assertThatThrownBy(() -> run(connection, "UPDATE vault SET balance = 2; TRUNCATE vault"))
                    .hasMessageContaining("TRUNCATE on public.vault refused");
        }
        assertThat(bank.database()
                        .text("SELECT concat_ws('|', reason, role, client_address IS NOT NULL) FROM fenceline.bypass"
                                + " ORDER BY id DESC LIMIT 1"))
                .isEqualTo("ticket 4711: balances anew|" + migrator + "|t");
    }

    @Test
    void theFunctionOfATriggerIsNotCalledForRowsThatPass() throws Exception {
        bank.database()
                .execute(
                        "SELECT fenceline.bypass('many rows'); INSERT INTO note SELECT 'a', '' FROM generate_series(1, 500)");
        try (Connection connection = bank.source().getConnection()) {
            connection.setAutoCommit(false);
            enter(connection, bank.claimed("note", "a"));
            String plan = explained(connection, "UPDATE note SET body = 'x'");
            assertThat(plan).contains("rows=501").doesNotContain("fenceline_");
            connection.rollback();
        }
        bank.protect("observe");
        try (Connection connection = bank.source().getConnection()) {
            assertThat(explained(connection, "UPDATE note SET body = 'x'"))
                    .as("control: a call is seen, and there is one for 501 rows")
                    .contains("rows=501")
                    .containsPattern("Trigger fenceline_update: time=\\S+ calls=1\n");
        }
    }

    private static String explained(Connection connection, String sql) throws SQLException {
        StringBuilder plan = new StringBuilder();
        try (Statement statement = connection.createStatement();
                ResultSet lines = statement.executeQuery("EXPLAIN (ANALYZE) " + sql)) {
            while (lines.next()) {
                plan.append(lines.getString(1)).append('\n');
            }
        }
        return plan.toString();
    }

    private static void copy(Connection connection) throws SQLException, IOException {
        connection.unwrap(PGConnection.class).getCopyAPI().copyIn("COPY vault FROM STDIN", new StringReader("3\t0\n"));
    }

    static String text(Connection connection, String sql) throws SQLException {
        try (Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery(sql)) {
            row.next();
            return row.getString(1);
        }
    }
}
