package dev.fenceline.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.fenceline.FencingToken;
import dev.fenceline.LockName;
import dev.fenceline.StaleTokenException;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Behind a pool that lends connections for one transaction at a time: what a transaction leaves in the session authorises nobody,
 * and none of ours depends on the session that the one before it had.
 */
@Tag("server")
class TransactionPoolingTest {

    private static TestDatabase database;

    private FencingToken mine;
    private FencingToken theirs;

    @BeforeAll
    static void create() {
        database = TestDatabase.create();
        database.execute("CREATE TABLE vault (id bigint PRIMARY KEY, balance bigint NOT NULL);"
                + " SELECT fenceline.protect('vault', 'vault', '{id}', 'enforce');"
                + " CREATE TABLE weak_vault (id int PRIMARY KEY, balance bigint NOT NULL);"
                // The naive form: whoever has entered, in this session, whenever that was.
                + " CREATE FUNCTION weak_check() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN"
                + " IF current_setting(''weak.entered'', true) IS DISTINCT FROM ''vault:'' || NEW.id THEN"
                + " RAISE EXCEPTION ''not entered'' USING ERRCODE = ''FL001''; END IF; RETURN NULL; END';"
                + " CREATE TRIGGER weak_check AFTER UPDATE ON weak_vault FOR EACH ROW EXECUTE FUNCTION weak_check();"
                + " INSERT INTO weak_vault VALUES (1, 100)");
    }

    @BeforeEach
    void rows() {
        mine = vault();
        theirs = vault();
    }

    /** A row of its own, and the token of a grant of its lock. */
    private static FencingToken vault() {
        long id = database.number("SELECT coalesce(max(id), 0) + 1 FROM vault");
        database.execute("SELECT fenceline.bypass('a new row'); INSERT INTO vault VALUES (" + id + ", 100)");
        return Grants.next(LockName.of("vault", id));
    }

    private static TransactionPooling pooling(int connections) throws SQLException {
        return new TransactionPooling(database.sourceNamed("pooled"), connections);
    }

    private static String id(FencingToken token) {
        return token.lock().toString().substring("vault:".length());
    }

    private static long balance(FencingToken token) {
        return database.number("SELECT balance FROM vault WHERE id = " + id(token));
    }

    private static void deposit(Connection connection, FencingToken vault) throws SQLException {
        execute(connection, "UPDATE vault SET balance = balance + 10 WHERE id = " + id(vault));
    }

    private static void execute(Connection connection, String sql) throws SQLException {
        try (Statement statement = connection.createStatement()) {
            statement.execute(sql);
        }
    }

    private static String text(Connection connection, String sql) throws SQLException {
        try (Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery(sql)) {
            row.next();
            return String.valueOf(row.getString(1));
        }
    }

    private static void enter(Connection connection, FencingToken token) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement("SELECT fenceline.enter(?, ?, ?)")) {
            statement.setString(1, token.lock().toString());
            statement.setLong(2, token.value());
            statement.setObject(3, token.holder());
            statement.execute();
        }
    }

    private static void assertRefused(Connection connection, FencingToken vault) {
        assertThatThrownBy(() -> deposit(connection, vault))
                .isInstanceOfSatisfying(
                        SQLException.class, e -> assertThat(e.getSQLState()).isEqualTo("FL001"))
                .hasMessageContaining("vault")
                .hasMessageContaining(vault.lock().toString());
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 3})
    void unitsOfTwoClientsTakeTurnsOnAllConnections(int connections) throws SQLException {
        try (TransactionPooling pooling = pooling(connections)) {
            PostgresFence fence = PostgresFence.on(pooling.source());
            Claim<Connection> a = fence.claim(mine);
            Claim<Connection> b = PostgresFence.on(pooling.source()).claim(theirs);
            for (int i = 0; i < 3; i++) {
                a.useTransaction(c -> deposit(c, mine));
                b.useTransaction(c -> deposit(c, theirs));
            }
            fence.resume(mine).useTransaction(c -> deposit(c, mine));

            assertThat(balance(mine)).isEqualTo(140);
            assertThat(balance(theirs)).isEqualTo(130);

            PostgresFence.on(database.source()).claim(Grants.next(mine.lock()));
            assertThatThrownBy(() -> a.useTransaction(c -> deposit(c, mine)))
                    .isInstanceOf(StaleTokenException.class)
                    .hasMessageContaining("token " + mine + " is older by");
            b.useTransaction(c -> deposit(c, theirs));
            assertThat(balance(mine)).isEqualTo(140);
            assertThat(balance(theirs)).isEqualTo(140);
        }
    }

    @Test
    void whoeverComesToAConnectionOnWhichSomebodyHadEnteredIsRefused() throws SQLException {
        PostgresFence.on(database.source()).claim(mine);
        try (TransactionPooling pooling = pooling(1);
                Connection a = pooling.client();
                Connection b = pooling.client()) {
            a.setAutoCommit(false);
            enter(a, mine);
            deposit(a, mine);
            a.commit();

            b.setAutoCommit(false);
            assertRefused(b, mine);
            b.rollback();
            b.setAutoCommit(true);
            assertRefused(b, mine);
        }
        assertThat(balance(mine)).isEqualTo(110);
    }

    @Test
    void aClientThatEnteredInItsTransactionBeforeIsRefusedOnWhateverConnectionItGets() throws SQLException {
        PostgresFence.on(database.source()).claim(mine);
        PostgresFence.on(database.source()).claim(theirs);
        try (TransactionPooling pooling = pooling(2);
                Connection a = pooling.client();
                Connection b = pooling.client()) {
            a.setAutoCommit(false);
            b.setAutoCommit(false);
            enter(a, mine);
            deposit(a, mine);
            enter(b, theirs);
            a.commit();
            String ofB = text(b, "SELECT pg_backend_pid()");
            deposit(b, theirs);
            b.commit();
            // The one that A had is next in turn; let somebody else take it.
            execute(b, "SELECT 1");

            assertThat(text(a, "SELECT pg_backend_pid()"))
                    .as("the connection on which B had entered")
                    .isEqualTo(ofB);
            assertRefused(a, theirs);
            a.rollback();
            b.rollback();
            assertRefused(a, mine);
            a.rollback();
        }
        assertThat(balance(mine)).isEqualTo(110);
        assertThat(balance(theirs)).isEqualTo(110);
    }

    @ParameterizedTest
    @ValueSource(strings = {"fenceline.entered", "fenceline.observed"})
    void aSettingThatWasKeptForTheSessionAuthorisesNobody(String setting) throws SQLException {
        PostgresFence.on(database.source()).claim(mine);
        try (TransactionPooling pooling = pooling(1);
                Connection a = pooling.client();
                Connection b = pooling.client()) {
            a.setAutoCommit(false);
            enter(a, mine);
            String entered = text(a, "SELECT current_setting('fenceline.entered', true)");
            assertThat(entered)
                    .as("what the triggers compare with")
                    .contains(mine.lock().toString());
            execute(a, "SELECT set_config('" + setting + "', '" + entered + "', false)");
            deposit(a, mine);
            a.commit();
            execute(a, "SELECT set_config('" + setting + "', '" + entered + "', false)");
            a.commit();

            b.setAutoCommit(false);
            assertThat(text(b, "SELECT current_setting('" + setting + "', true)"))
                    .as("B finds it in its session")
                    .isEqualTo(entered);
            assertRefused(b, mine);
            b.rollback();
        }
        assertThat(balance(mine)).isEqualTo(110);
    }

    @Test
    void aBypassEndsWithItsTransaction() throws SQLException {
        try (TransactionPooling pooling = pooling(1);
                Connection a = pooling.client();
                Connection b = pooling.client()) {
            a.setAutoCommit(false);
            execute(a, "SELECT fenceline.bypass('a data migration')");
            deposit(a, mine);
            a.commit();

            assertRefused(b, mine);
            assertRefused(a, mine);
            a.rollback();
        }
        assertThat(balance(mine)).isEqualTo(110);
    }

    @Test
    void aMarkThatIsKeptForTheSessionLetsTheNextClientWrite() throws SQLException {
        // The control: the same pool, and a trigger that asks the session and not the transaction.
        try (TransactionPooling pooling = pooling(1);
                Connection a = pooling.client();
                Connection b = pooling.client()) {
            execute(a, "SET weak.entered = 'vault:1'");
            execute(a, "UPDATE weak_vault SET balance = 110");

            execute(b, "UPDATE weak_vault SET balance = 0");
        }
        assertThat(database.number("SELECT balance FROM weak_vault"))
                .as("B has never entered")
                .isZero();
    }

    @Test
    void noTimeoutOfATransactionStaysInTheSession() throws SQLException {
        try (TransactionPooling pooling = pooling(1);
                Connection b = pooling.client()) {
            Claim<Connection> a = PostgresFence.on(pooling.source()).claim(mine);
            a.useTransaction(c -> {
                deposit(c, mine);
                assertThat(text(c, "SHOW lock_timeout")).as("while it lasts").isNotEqualTo("0");
            });

            for (String name :
                    new String[] {"lock_timeout", "idle_in_transaction_session_timeout", "tcp_user_timeout"}) {
                assertThat(text(b, "SHOW " + name)).as(name).isEqualTo("0");
            }
            assertThat(text(b, "SHOW transaction_isolation")).isEqualTo("read committed");
        }
    }
}
