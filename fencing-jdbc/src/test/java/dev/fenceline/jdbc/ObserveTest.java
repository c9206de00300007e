package dev.fenceline.jdbc;

import static dev.fenceline.jdbc.ProtectedBank.enter;
import static dev.fenceline.jdbc.ProtectedBank.run;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.fenceline.FencingToken;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.List;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.postgresql.ds.PGSimpleDataSource;

/** An observed table lets every writer pass, and keeps a record of those that had not entered. */
@Tag("server")
class ObserveTest {

    private static final String RECORDS =
            "SELECT coalesce(string_agg(concat_ws(' ', operation, relation, needed), '; ' ORDER BY id), 'none')"
                    + " FROM fenceline.violation";

    static ProtectedBank bank;

    PGSimpleDataSource oldCode;

    @BeforeAll
    static void create() {
        bank = ProtectedBank.create();
    }

    @BeforeEach
    void observe() {
        bank.protect("enforce");
        bank.fill();
        bank.protect("observe");
        bank.database().execute("DELETE FROM fenceline.violation");
        oldCode = bank.database().sourceNamed("old-code");
        oldCode.setUser(bank.role());
    }

    @Test
    void aWriterWithoutTheLockPassesAndIsRecordedOnceForEachTransactionAndTable() throws Exception {
        try (Connection connection = oldCode.getConnection()) {
            connection.setAutoCommit(false);
            run(connection, "UPDATE vault SET balance = 1");
            run(connection, "DELETE FROM vault WHERE id = 1");
            run(connection, "INSERT INTO note SELECT 'k' || i, '' FROM generate_series(1, 1000) i");
            run(connection, "UPDATE reading SET value = 2");
            run(connection, "TRUNCATE reading_us");
            connection.commit();
            run(connection, "TRUNCATE vault");
            connection.commit();
        }

        assertThat(bank.database().text(RECORDS))
                .isEqualTo("UPDATE public.vault lock 'vault:1'; INSERT public.note lock 'note:k1';"
                        + " UPDATE public.reading lock 'reading:eu:1';"
                        + " TRUNCATE public.vault every lock of class 'vault'");
        assertThat(bank.database()
                        .text("SELECT DISTINCT concat_ws(' ', application_name, role, host(client_address), entered,"
                                + " at > now() - interval '1 minute') FROM fenceline.violation"))
                .isEqualTo("old-code " + bank.role() + " 127.0.0.1 none t");
        assertThat(bank.database().number("SELECT count(DISTINCT transaction) FROM fenceline.violation"))
                .isEqualTo(2);
    }

    @Test
    void aWriterUnderItsLockIsNotRecordedAndOneUnderAnotherIs() throws Exception {
        FencingToken mine = bank.claimed("vault", 1);
        FencingToken other = bank.claimed("vault", 2);
        try (Connection connection = oldCode.getConnection()) {
            connection.setAutoCommit(false);
            enter(connection, mine);
            run(connection, "UPDATE vault SET balance = 1 WHERE id = 1");
            connection.commit();
            assertThat(bank.database().text(RECORDS)).isEqualTo("none");

            enter(connection, other);
            run(connection, "UPDATE vault SET balance = 1 WHERE id = 1");
            connection.commit();
        }

        assertThat(bank.database().text(RECORDS)).isEqualTo("UPDATE public.vault lock 'vault:1'");
        assertThat(bank.database().text("SELECT entered FROM fenceline.violation"))
                .isEqualTo("'vault:2'");
    }

    @Test
    void aRecordThatWasRolledBackToASavepointIsWrittenByTheNextWrite() throws Exception {
        try (Connection connection = oldCode.getConnection()) {
            connection.setAutoCommit(false);
            run(connection, "SAVEPOINT s");
            run(connection, "UPDATE vault SET balance = 1");
            run(connection, "ROLLBACK TO s");
            run(connection, "DELETE FROM vault");
            connection.commit();
        }

        assertThat(bank.database().text(RECORDS))
                .startsWith("DELETE public.vault lock")
                .doesNotContain("; ");
    }

    @Test
    void aRecordThatCannotBeWrittenFailsNobodyAndNobodyWaitsForIt() throws Exception {
        try (Connection blocker = bank.database().source().getConnection();
                Connection connection = oldCode.getConnection();
                Statement statement = connection.createStatement()) {
            blocker.setAutoCommit(false);
            run(blocker, "LOCK TABLE fenceline.violation IN ACCESS EXCLUSIVE MODE");
            connection.setAutoCommit(false);
            assertThat(statement.executeUpdate("UPDATE vault SET balance = 1")).isEqualTo(2);
            assertThat(statement.getWarnings().getMessage())
                    .startsWith("UPDATE on public.vault without its lock was not recorded: could not obtain lock on"
                            + " relation ");
            connection.commit();
            blocker.rollback();
        }

        assertThat(bank.contents()).startsWith("(1,1) (2,1) | ");
        assertThat(bank.database().text(RECORDS)).isEqualTo("none");
    }

    @Test
    void aSerializableTransactionReadsNothingMoreForBeingObserved() throws Exception {
        // Each row that is read there can make it fail, or somebody else.
        String read =
                "SELECT count(*) FROM pg_locks l JOIN pg_class c ON c.oid = l.relation WHERE l.mode = 'SIReadLock'"
                        + " AND l.pid = pg_backend_pid() AND c.relnamespace = 'fenceline'::regnamespace";
        bank.claimed("vault", 1);
        try (Connection connection = oldCode.getConnection()) {
            connection.setTransactionIsolation(Connection.TRANSACTION_SERIALIZABLE);
            connection.setAutoCommit(false);
            run(connection, "UPDATE vault SET balance = 1 WHERE id = 1");
            assertThat(BypassTest.text(connection, read)).isEqualTo("0");
            connection.commit();
        }
        assertThat(bank.database().text(RECORDS)).isEqualTo("UPDATE public.vault lock 'vault:1'");
        try (Connection control = bank.database().source().getConnection()) {
            control.setTransactionIsolation(Connection.TRANSACTION_SERIALIZABLE);
            control.setAutoCommit(false);
            run(control, "SELECT * FROM fenceline.guard WHERE lock = 'vault:1'");
            assertThat(BypassTest.text(control, read))
                    .as("control: such a read is seen")
                    .isNotEqualTo("0");
            control.rollback();
        }
    }

    @Test
    void oldRecordsArePrunedTwoForEachNewOneAndOnlyUnderReadCommitted() throws Exception {
        bank.database()
                .execute(
                        "INSERT INTO fenceline.violation (at, relation, operation, needed, entered, application_name, role,"
                                + " transaction) SELECT now() - interval '31 days', 'r', 'UPDATE', '', '', '', '', '1'::xid8"
                                + " FROM generate_series(1, 5) UNION ALL SELECT now() - interval '29 days', 'r', 'UPDATE', '', '', '',"
                                + " '', '1'::xid8");
        String old = "SELECT count(*) FROM fenceline.violation WHERE at < now() - interval '1 day'";
        try (Connection connection = oldCode.getConnection()) {
            for (int isolation : List.of(Connection.TRANSACTION_REPEATABLE_READ, Connection.TRANSACTION_SERIALIZABLE)) {
                connection.setTransactionIsolation(isolation);
                run(connection, "UPDATE vault SET balance = 1");
            }
            assertThat(bank.database().number(old)).isEqualTo(6);
            connection.setTransactionIsolation(Connection.TRANSACTION_READ_COMMITTED);
            run(connection, "UPDATE vault SET balance = 1");
            assertThat(bank.database().number(old)).isEqualTo(4);
            for (int i = 0; i < 3; i++) {
                run(connection, "UPDATE vault SET balance = 1");
            }
        }

        assertThat(bank.database().number(old))
                .as("what is younger than 30 days stays")
                .isEqualTo(1);
        assertThat(bank.database().number("SELECT count(*) FROM fenceline.violation"))
                .isEqualTo(7);
    }

    @Test
    void fromObservingToEnforcingAndBackNobodyWhoReadsIsWaitedFor() throws Exception {
        try (Connection reader = bank.source().getConnection();
                Connection owner = bank.database().source().getConnection();
                Connection writer = oldCode.getConnection()) {
            reader.setAutoCommit(false);
            run(reader, "SELECT * FROM vault, reading");
            run(owner, "SET lock_timeout = '2s'");
            run(
                    owner,
                    "SELECT fenceline.protect('vault', 'vault', '{id}', 'enforce'),"
                            + " fenceline.protect('reading', 'reading', '{region,id}', 'enforce')");
            assertThatThrownBy(() -> run(writer, "UPDATE vault SET balance = 1"))
                    .isInstanceOfSatisfying(
                            SQLException.class, e -> assertThat(e.getSQLState()).isEqualTo("FL001"));
            run(
                    owner,
                    "SELECT fenceline.protect('vault', 'vault', '{id}', 'observe'),"
                            + " fenceline.protect('reading', 'reading', '{region,id}', 'observe')");
            assertThat(run(writer, "UPDATE vault SET balance = 1")).isEqualTo(2);
            reader.rollback();
        }
    }
}
