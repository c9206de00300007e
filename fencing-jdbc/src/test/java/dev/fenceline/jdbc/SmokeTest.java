package dev.fenceline.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.fenceline.FencingToken;
import dev.fenceline.RetryableConflictException;
import dev.fenceline.StaleTokenException;
import dev.fenceline.migrations.FenceMigrations;
import dev.fenceline.testkit.FaultProxy;
import dev.fenceline.testkit.FaultProxy.Cut;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import javax.sql.DataSource;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.jdbi.v3.core.Handle;
import org.jdbi.v3.core.Jdbi;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Each form once, as a role with no more rights than it needs. Quick enough for every supported version of PostgreSQL: the
 * profile {@code postgres-versions} runs this on 14 to 18.
 */
@Tag("server")
@Tag("smoke")
class SmokeTest extends TwoGrants {

    /** Of the class path, unless the profile has named another server. */
    private static final int EXPECTED = Integer.getInteger("fenceline.postgres.expected", 18);

    static DataSource app;

    final ExecutorService threads = Executors.newCachedThreadPool();
    PostgresFence fence;

    @BeforeAll
    static void leastPrivilegedRole() {
        String role = "smoke_" + database.name();
        database.execute("CREATE ROLE " + role + " LOGIN; GRANT SELECT, INSERT, UPDATE, DELETE ON account TO " + role);
        FenceMigrations.on(database.source()).install();
        FenceMigrations.on(database.source()).grantTo(role);
        FenceMigrations.on(database.source()).grantRowsTo(role);
        database.execute("CREATE TABLE marked (id int PRIMARY KEY, balance bigint NOT NULL,"
                + " fence_token bigint NOT NULL DEFAULT 0, fence_holder uuid);"
                + " CREATE TABLE guarded (id int PRIMARY KEY, balance bigint NOT NULL);"
                + " GRANT SELECT, INSERT, UPDATE, DELETE ON marked, guarded TO " + role + ";"
                + " SELECT fenceline.protect('guarded', 'account', '{id}', 'enforce')");
        app = database.server().dataSource(database.name(), role);
    }

    @BeforeEach
    void fence() {
        fence = PostgresFence.on(app);
    }

    @AfterEach
    void stop() {
        threads.shutdownNow();
    }

    @Test
    void theServerIsTheOneThatWasToBeTested() {
        assertThat(database.server().majorVersion()).isEqualTo(EXPECTED);
    }

    @Test
    void aWriterThatWasOvertakenIsRefused() {
        Claim<Connection> overtaken = fence.claim(older);
        JdbcWork.add(overtaken, 1, 10);
        JdbcWork.add(fence.claim(newer), 1, 10);

        assertThatThrownBy(() -> overtaken.useTransaction(c -> TestDatabase.write(c, 1, 0)))
                .isInstanceOf(StaleTokenException.class)
                .hasMessageContaining("token " + older + " is older by");
        assertThatThrownBy(() -> fence.claim(older))
                .isInstanceOf(StaleTokenException.class)
                .hasMessageContaining("token " + older + " is older by");
        JdbcWork.add(fence.resume(newer), 1, 10);
        assertThat(database.balance(1)).isEqualTo(130);
    }

    @Test
    void theHandleOfJdbiIsFencedToo() {
        JdbiFence onJdbi = JdbiFence.on(Jdbi.create(app));
        Claim<Handle> overtaken = onJdbi.claim(older);
        overtaken.useTransaction(
                handle -> handle.execute("UPDATE account SET balance = balance + ? WHERE id = ?", 10, 1));
        fence.claim(newer);

        assertThatThrownBy(() -> overtaken.useTransaction(handle -> handle.execute("DELETE FROM account")))
                .isInstanceOf(StaleTokenException.class)
                .hasMessageContaining("token " + older + " is older by");
        assertThat(database.balance(1)).isEqualTo(110);
    }

    @Test
    void aCommitWithoutAnAnswerIsSettled() throws Exception {
        try (FaultProxy proxy =
                FaultProxy.to(database.server().host(), database.server().port())) {
            Claim<Connection> claim = PostgresFence.on(database.sourceAt(proxy.host(), proxy.port()))
                    .claim(older);

            claim.useTransaction(c -> {
                TestDatabase.write(c, 1, 110);
                proxy.onRequest("COMMIT").loseReply(Cut.RST);
            });

            assertThat(database.balance(1)).isEqualTo(110);
        }
    }

    @Test
    void twoTransactionsOfOneClaimLoseNothingAboveReadCommittedEither() throws Exception {
        Claim<Connection> claim = fence.claim(older);
        var strict = database.sourceNamed("strict");
        strict.setOptions("-c default_transaction_isolation=serializable");
        Claim<Connection> second = PostgresFence.on(strict).resume(older);
        Future<?> waiting = claim.inTransaction(c -> {
            long before = TestDatabase.read(c, 1);
            Future<?> other = threads.submit(() -> JdbcWork.add(second, 1, 10));
            database.awaitLockWait("strict");
            TestDatabase.write(c, 1, before + 10);
            return other;
        });

        assertThatThrownBy(() -> waiting.get(20, TimeUnit.SECONDS))
                .hasCauseInstanceOf(RetryableConflictException.class)
                .hasMessageContaining("SQLSTATE 40001");
        JdbcWork.add(second, 1, 10);
        assertThat(database.balance(1)).isEqualTo(120);
    }

    @Test
    void aBlockedClaimNamesTheBlocker() throws Exception {
        Claim<Connection> holder =
                PostgresFence.on(database.sourceNamed("the-holder")).claim(older);

        holder.useTransaction(c -> {
            TestDatabase.write(c, 1, 110);
            assertThatThrownBy(() -> fence.claimTimeout(Duration.ofMillis(50)).claim(newer))
                    .isInstanceOf(RetryableConflictException.class)
                    .hasMessageContaining("application_name 'the-holder'");
        });
    }

    @Test
    void theOtherFormsOfTheGuardAreFencedToo() throws SQLException {
        FencingToken another = Grants.next(Grants.freshLock());
        Claim<Connection> overtaken = fence.claim(older);
        Claim<Connection> both = fence.isolation(Isolation.SERIALIZABLE).claim(List.of(older, another));

        assertThat(overtaken.update("UPDATE account SET balance = balance + ? WHERE id = ?", 10, 1))
                .isEqualTo(1);
        assertThat(PostgresFence.on(app)
                        .recorded()
                        .resume(older)
                        .update("UPDATE account SET balance = balance + 10 WHERE id = 1"))
                .isEqualTo(1);
        JdbcWork.add(both, 1, 10);
        JdbcWork.add(fence.concurrent().resume(older), 1, 10);
        assertThat(overtaken.<Long, SQLException>readOnly(c -> TestDatabase.read(c, 1)))
                .isEqualTo(140);
        fence.claim(newer);

        for (ThrowingCallable form : List.<ThrowingCallable>of(
                () -> overtaken.update("UPDATE account SET balance = 0"),
                () -> overtaken.readOnly(c -> TestDatabase.read(c, 1)),
                () -> both.useTransaction(c -> TestDatabase.write(c, 1, 0)),
                () -> fence.concurrent().resume(older))) {
            assertThatThrownBy(form)
                    .isInstanceOf(StaleTokenException.class)
                    .hasMessageContaining("token " + older + " is older by");
        }
        assertThat(database.balance(1)).isEqualTo(140);
    }

    @Test
    void aRowCarriesItsOwnMark() throws SQLException {
        database.execute("INSERT INTO marked VALUES (1, 100) ON CONFLICT (id) DO UPDATE SET balance = 100");
        FencedTable<Integer> table = FencedTable.of("marked").key("id", id -> older.lock());
        PostgresRows<Integer> rows = PostgresRows.on(app, table);
        RowClaim<Long> overtaken = rows.claim(older, 1, row -> row.getLong("balance"));
        overtaken.update(RowValues.of("balance", overtaken.row().orElseThrow() + 10));
        RowClaim<Long> current = rows.claim(newer, 1, row -> row.getLong("balance"));

        assertThatThrownBy(() -> overtaken.update(RowValues.of("balance", 0L)))
                .isInstanceOf(StaleTokenException.class)
                .hasMessageContaining("token " + older + " is older by");
        assertThat(current.row()).contains(110L);
        current.delete();
        assertThatThrownBy(() -> overtaken.insert(RowValues.of("balance", 0L)))
                .isInstanceOf(StaleTokenException.class)
                .hasMessageContaining("token " + older + " is older by");
        assertThat(database.number("SELECT count(*) FROM marked")).isZero();
    }

    @Test
    void aProtectedTableRefusesWhoHasNotEntered() throws SQLException {
        String id = older.lock().toString().replaceAll("[^0-9]", "");
        String add = "UPDATE guarded SET balance = balance + 10 WHERE id = " + id;
        Claim<Connection> claim = fence.claim(older);
        claim.useTransaction(c -> c.createStatement().execute("INSERT INTO guarded VALUES (" + id + ", 100)"));
        claim.useTransaction(c -> c.createStatement().execute(add));
        try (Connection own = app.getConnection()) {
            own.setAutoCommit(false);
            fence.enter(own, older);
            own.createStatement().execute(add);
            own.commit();
            own.setAutoCommit(true);

            assertThatThrownBy(() -> own.createStatement().execute(add))
                    .isInstanceOfSatisfying(
                            SQLException.class, e -> assertThat(e.getSQLState()).isEqualTo("FL001"))
                    .hasMessageContaining("guarded");
        }
        fence.claim(newer);
        assertThatThrownBy(() -> claim.useTransaction(c -> c.createStatement().execute(add)))
                .isInstanceOf(StaleTokenException.class)
                .hasMessageContaining("token " + older + " is older by");
        assertThat(database.number("SELECT balance FROM guarded WHERE id = " + id))
                .isEqualTo(120);
    }
}
