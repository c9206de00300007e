package dev.fenceline.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.fenceline.FencelineEvent.WriteEnded;
import dev.fenceline.FencelineEvent.WriteOutcome;
import dev.fenceline.RetryableConflictException;
import dev.fenceline.StaleTokenException;
import dev.fenceline.UnfencedWriteException;
import dev.fenceline.testkit.FaultProxy;
import dev.fenceline.testkit.FaultProxy.Cut;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** 3 of the design's list: in auto-commit mode each statement of a unit is a fenced transaction. */
@Tag("server")
class UnitAutoCommitTest extends OneUnit {

    @Test
    void eachStatementIsCommittedAndTheFirstOneOfAStaleWriterRefused() {
        assertThatThrownBy(() -> unit(claim -> {
                    write(1, 110);
                    assertThat(database.balance(1)).isEqualTo(110);
                    overtake();
                    write(1, 0);
                }))
                .isInstanceOf(StaleTokenException.class)
                .hasMessageStartingWith(
                        "Transaction (after 1 committed transaction of this unit, reads included) on PostgreSQL guard '"
                                + lock.name());
        assertThat(database.balance(1)).isEqualTo(110);
        assertThat(events.of(WriteEnded.class))
                .extracting(WriteEnded::outcome)
                .containsExactly(WriteOutcome.APPLIED, WriteOutcome.STALE);
    }

    @Test
    void aStaleReaderIsRefusedTooAndWhoSwallowsItIsToldAtTheEnd() {
        assertThatThrownBy(() -> unit(claim -> {
                    overtake();
                    assertThatThrownBy(() -> read(1)).isInstanceOf(StaleTokenException.class);
                }))
                .isInstanceOf(StaleTokenException.class);
    }

    @Test
    void aNewerHolderWaitsForAStatementUntilThatIsCommitted() throws Exception {
        // A trigger asks, from within the statement and by its own session, whether the mark is locked.
        database.execute("CREATE TABLE IF NOT EXISTS seen (locked boolean)");
        unit(claim -> {
            try (Connection connection = source.getConnection();
                    Statement statement = connection.createStatement()) {
                statement.executeUpdate(
                        "INSERT INTO seen SELECT count(*) > 0 FROM pg_locks WHERE pid = pg_backend_pid()"
                                + " AND relation = 'fenceline.guard'::regclass AND mode LIKE 'Row%'");
            }
            assertThat(database.number("SELECT count(*) FROM pg_locks WHERE relation = 'fenceline.guard'::regclass"))
                    .as("afterwards")
                    .isZero();
        });
        assertThat(database.text("SELECT locked FROM seen")).isEqualTo("t");
    }

    @Test
    void aFailedStatementIsTheDriversExceptionAndTheNextOneGoesOn() throws Exception {
        unit(claim -> {
            try (Connection connection = source.getConnection()) {
                assertThatThrownBy(() -> execute(connection, "SELECT 1 / 0"))
                        .isInstanceOf(SQLException.class)
                        .hasMessageContaining("division by zero");
                TestDatabase.write(connection, 1, 110);
            }
        });
        assertThat(database.balance(1)).isEqualTo(110);
    }

    @Test
    void aLostRaceOfAStatementIsOurs() throws Exception {
        unit(claim -> {
            try (Connection connection = source.getConnection()) {
                assertThatThrownBy(() ->
                                execute(connection, "DO $$ BEGIN RAISE EXCEPTION USING ERRCODE = '40001'; END $$"))
                        .isInstanceOf(RetryableConflictException.class)
                        .hasMessageStartingWith("Transaction on PostgreSQL guard '" + lock.name() + "' rolled back: ");
                TestDatabase.write(connection, 1, 110);
            }
        });
        assertThat(database.balance(1)).isEqualTo(110);
    }

    @Test
    void aResultIsReadWholeWhateverTheFetchSize() throws Exception {
        unit(claim -> {
            try (Connection connection = source.getConnection();
                    Statement statement = connection.createStatement()) {
                statement.setFetchSize(2);
                try (ResultSet rows = statement.executeQuery("SELECT generate_series(1, 10)")) {
                    List<Integer> read = new ArrayList<>();
                    while (rows.next()) {
                        read.add(rows.getInt(1));
                        if (rows.getInt(1) == 5) {
                            TestDatabase.write(connection, 1, 105);
                        }
                    }
                    assertThat(read).hasSize(10);
                }
                assertThat(statement.getFetchSize()).isEqualTo(2);
            }
        });
        assertThat(database.balance(1)).isEqualTo(105);
    }

    @Test
    void inATransactionTheFetchSizeCounts() throws Exception {
        unit(claim -> {
            try (Connection connection = source.getConnection();
                    Statement statement = connection.createStatement()) {
                connection.setAutoCommit(false);
                statement.setFetchSize(2);
                try (ResultSet rows = statement.executeQuery("SELECT generate_series(1, 10)")) {
                    rows.next();
                    assertThat(database.number("SELECT count(*) FROM pg_stat_activity WHERE application_name = 'pooled'"
                                    + " AND datname = '" + database.name() + "' AND state = 'idle in transaction'"))
                            .isEqualTo(1);
                    int count = 1;
                    while (rows.next()) {
                        count++;
                    }
                    assertThat(count).isEqualTo(10);
                }
                connection.commit();
            }
        });
    }

    @Test
    void generatedKeysReturningBatchesAndSeveralResults() throws Exception {
        database.execute("CREATE TABLE IF NOT EXISTS item (id int GENERATED ALWAYS AS IDENTITY, name text)");
        unit(claim -> {
            try (Connection connection = source.getConnection();
                    PreparedStatement insert = connection.prepareStatement(
                            "INSERT INTO item (name) VALUES (?)", Statement.RETURN_GENERATED_KEYS);
                    Statement other = connection.createStatement()) {
                insert.setString(1, "a");
                insert.executeUpdate();
                ResultSet keys = insert.getGeneratedKeys();
                assertThat(keys.next()).isTrue();
                assertThat(keys.getInt(1)).isEqualTo(1);
                assertThat(keys.getStatement()).isSameAs(insert);

                for (String name : List.of("b", "c")) {
                    insert.setString(1, name);
                    insert.addBatch();
                }
                assertThat(insert.executeBatch()).containsExactly(1, 1);

                ResultSet returned = other.executeQuery("UPDATE item SET name = 'x' RETURNING id");
                Statement several = connection.createStatement();
                assertThat(several.execute("SELECT 1; SELECT 2")).isTrue();
                assertThat(several.getMoreResults()).isTrue();
                assertThat(several.getResultSet().next()).isTrue();
                assertThat(returned.next()).as("several results at once").isTrue();
                // Here the driver asks the server by itself, outside of any of our transactions.
                assertThat(returned.getMetaData().getTableName(1)).isEqualTo("item");
                assertThat(connection
                                .getMetaData()
                                .getTables(null, null, "item", null)
                                .next())
                        .isTrue();
                several.close();
                TestDatabase.write(connection, 1, 110);
            }
        });
        assertThat(database.number("SELECT count(*) FROM item WHERE name = 'x'"))
                .isEqualTo(3);
        assertThat(database.balance(1)).isEqualTo(110);
    }

    @Test
    void aRowThatIsChangedInTheResultIsAFencedStatement() {
        assertThatThrownBy(() -> unit(claim -> {
                    try (Connection connection = source.getConnection();
                            Statement statement = connection.createStatement(
                                    ResultSet.TYPE_SCROLL_INSENSITIVE, ResultSet.CONCUR_UPDATABLE)) {
                        ResultSet row = statement.executeQuery("SELECT id, balance FROM account WHERE id = 1");
                        row.next();
                        row.updateLong("balance", 110);
                        row.updateRow();
                        assertThat(database.balance(1)).isEqualTo(110);
                        overtake();
                        row.updateLong("balance", 0);
                        row.updateRow();
                    }
                }))
                .isInstanceOf(StaleTokenException.class);
        assertThat(database.balance(1)).isEqualTo(110);
    }

    @Test
    void whatFrameworksLookForAndDoNotFindIsNoFailure() throws Exception {
        unit(claim -> {
            try (Connection connection = source.getConnection();
                    Statement statement = connection.createStatement()) {
                connection.setAutoCommit(false);
                ResultSet row = statement.executeQuery("SELECT balance FROM account WHERE id = 1");
                assertThat(row.next()).isTrue();
                assertThatThrownBy(() -> row.findColumn("none"))
                        .isInstanceOf(SQLException.class)
                        .hasMessageContaining("none");
                TestDatabase.write(connection, 1, 110);
                connection.commit();
            }
        });
        assertThat(database.balance(1)).isEqualTo(110);
    }

    @Test
    void largeObjectsAreRefusedAsByTheDriver() throws Exception {
        unit(claim -> {
            try (Connection connection = source.getConnection();
                    Statement statement = connection.createStatement()) {
                ResultSet row = statement.executeQuery("SELECT lo_create(0)");
                row.next();
                assertThatThrownBy(() -> row.getBlob(1))
                        .isInstanceOf(SQLException.class)
                        .hasMessage("Large Objects may not be used in auto-commit mode.");
            }
        });
    }

    @Test
    void commitAndRollbackAreRefusedAsByTheDriver() throws Exception {
        unit(claim -> {
            try (Connection connection = source.getConnection()) {
                assertThatThrownBy(connection::commit)
                        .isInstanceOf(SQLException.class)
                        .hasMessage("Cannot commit when autoCommit is enabled.");
                assertThatThrownBy(connection::rollback)
                        .isInstanceOf(SQLException.class)
                        .hasMessage("Cannot roll back when autoCommit is enabled.");
            }
        });
    }

    @Test
    void theDriversOwnObjectIsRefusedBecauseItWouldEscape() throws Exception {
        unit(claim -> {
            try (Connection connection = source.getConnection()) {
                assertThat(connection.unwrap(Connection.class)).isSameAs(connection);
                assertThatThrownBy(() -> connection.unwrap(org.postgresql.PGConnection.class))
                        .isInstanceOf(UnfencedWriteException.class)
                        .hasMessage("unwrap in a unit on PostgreSQL guard '" + lock.name()
                                + "' refused in auto-commit mode:"
                                + " what is done with the driver's own object would be in no fenced transaction. Call"
                                + " setAutoCommit(false) first, and commit() after it.");
            }
        });
    }

    @Test
    void aCommitWhoseAnswerIsLostIsSettled() throws Exception {
        try (FaultProxy proxy =
                FaultProxy.to(database.server().host(), database.server().port())) {
            var through = database.sourceAt(proxy.host(), proxy.port());
            PostgresFence fenced = PostgresFence.on(through);
            fenced.unit(lock).run(claim -> {
                try (Connection connection = fenced.dataSource().getConnection()) {
                    proxy.onRequest("COMMIT").loseReply(Cut.RST);
                    assertThat(TestDatabase.write(connection, 1, 110)).isEqualTo(1);
                }
            });
        }
        assertThat(database.balance(1)).isEqualTo(110);
    }

    @Test
    void aStatementCostsFourRoundTripsAndOneInATransactionOnlyItsOwn() throws Exception {
        var counted = database.sourceNamed("counted");
        counted.setSocketFactory(CountedSocketFactory.class.getName());
        try (Connection only = counted.getConnection()) {
            PostgresFence fenced = PostgresFence.on(new BoundSource(only).source());
            fenced.unit(lock).run(claim -> {
                try (Connection connection = fenced.dataSource().getConnection()) {
                    // Entering, the statement, the last check, COMMIT.
                    costs(4, () -> TestDatabase.write(connection, 1, 110));
                    costs(4, () -> TestDatabase.read(connection, 1));
                    costs(0, () -> connection.setAutoCommit(false));
                    costs(2, () -> TestDatabase.write(connection, 1, 111));
                    costs(1, () -> TestDatabase.read(connection, 1));
                    costs(2, connection::commit);
                }
            });
        }
    }

    private interface Step {
        void run() throws SQLException;
    }

    private static void costs(long expected, Step step) throws SQLException {
        long before = CountedSocketFactory.roundTrips();
        step.run();
        assertThat(CountedSocketFactory.roundTrips() - before).isEqualTo(expected);
    }
}
