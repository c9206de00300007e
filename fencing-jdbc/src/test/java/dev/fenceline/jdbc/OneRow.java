package dev.fenceline.jdbc;

import dev.fenceline.FencingToken;
import dev.fenceline.LockName;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicLong;
import javax.sql.DataSource;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;

/** What most tests of row mode begin with: a row with the value 100 and no mark, and two grants of its lock. */
abstract class OneRow {

    static final FencedTable<Long> TABLE = FencedTable.of("thing").key("id", id -> LockName.of("thing", id));
    static final RowReader<Long> VALUE = row -> row.getLong("value");

    private static final AtomicLong IDS = new AtomicLong();

    static TestDatabase database;

    final ExecutorService threads = Executors.newCachedThreadPool();
    final RecordedEvents events = new RecordedEvents();
    long id;
    String resource;
    FencingToken older;
    FencingToken newer;
    PostgresRows<Long> rows;

    @BeforeAll
    static void create() {
        database = TestDatabase.create();
        database.execute("CREATE TABLE thing (id bigint PRIMARY KEY, value bigint NOT NULL CHECK (value >= 0),"
                + " tag text UNIQUE, fence_token bigint NOT NULL DEFAULT 0, fence_holder uuid)");
    }

    @BeforeEach
    void grant() {
        id = IDS.incrementAndGet();
        resource = "PostgreSQL row 'thing:" + id + "' of \"thing\"";
        older = Grants.next(TABLE.lock(id));
        newer = Grants.next(TABLE.lock(id));
        rows = PostgresRows.on(database.source(), TABLE).listener(events);
        database.execute("INSERT INTO thing (id, value) VALUES (" + id + ", 100)");
    }

    @AfterEach
    void stop() {
        threads.shutdownNow();
    }

    PostgresRows<Long> named(String application) {
        return on(database.sourceNamed(application));
    }

    PostgresRows<Long> on(DataSource source) {
        return PostgresRows.on(source, TABLE).listener(events);
    }

    static RowValues value(long value) {
        return RowValues.of("value", value);
    }

    void remove() {
        database.execute("DELETE FROM thing WHERE id = " + id);
    }

    /** The row's value; "none" where there is no row. */
    String stored() {
        return database.text("SELECT coalesce((SELECT value::text FROM thing WHERE id = " + id + "), 'none')");
    }

    /** Raises the marks of the row and of the guard in a transaction that stays open, as a claim would before it commits. */
    void raise(Connection connection, FencingToken token) throws SQLException {
        run(connection, "UPDATE thing SET fence_token = ?, fence_holder = ? WHERE id = " + id, token);
        run(
                connection,
                "INSERT INTO fenceline.guard (lock, token, holder, claimed_at, claimed_by) VALUES ('" + token.lock()
                        + "', ?, ?, now(), '') ON CONFLICT (lock) DO UPDATE SET token = excluded.token,"
                        + " holder = excluded.holder",
                token);
    }

    static int run(Connection connection, String sql, FencingToken token) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(sql)) {
            statement.setLong(1, token.value());
            statement.setObject(2, token.holder());
            return statement.executeUpdate();
        }
    }

    static Connection transaction(DataSource source) throws SQLException {
        Connection connection = source.getConnection();
        connection.setAutoCommit(false);
        return connection;
    }
}
