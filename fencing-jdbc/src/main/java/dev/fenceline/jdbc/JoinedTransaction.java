package dev.fenceline.jdbc;

import dev.fenceline.FencelineException;
import dev.fenceline.FencingToken;
import dev.fenceline.UnfencedWriteException;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.Optional;
import java.util.stream.Stream;
import org.postgresql.core.TransactionState;
import org.postgresql.jdbc.AutoSave;
import org.postgresql.jdbc.PgConnection;

/**
 * A transaction that somebody else manages, and that is to enter.
 *
 * <p>Nobody looks at its end. So whatever is refused here leaves the transaction failed: a caller that swallows the exception and
 * goes on is refused by the server at each statement, and its commit writes nothing. The mark is read in a transaction that takes
 * the place of the refused one, which had done nothing yet, and that one is made to fail too.
 */
final class JoinedTransaction<C> {

    // Needs no schema and no right: also where the refusal was that one of them is missing.
    private static final String FAIL = "DO $$ BEGIN RAISE EXCEPTION USING ERRCODE = 'FL001',"
            + " MESSAGE = 'Entering the fence was refused, so this transaction can only be rolled back'; END $$";

    private final ConnectionSource<C> source;
    private final FenceSettings settings;
    private final Connection connection;
    private final Tokens tokens;
    private final String step;
    private final String resource;

    private JoinedTransaction(
            ConnectionSource<C> source, FenceSettings settings, Connection connection, Tokens tokens) {
        this.source = source;
        this.settings = settings;
        this.connection = connection;
        this.tokens = tokens;
        this.step = "Entering under " + tokens;
        this.resource = tokens.resource();
    }

    /** Returns normally iff every mark is ours, and stays so until the transaction ends. */
    static <C> void enter(
            ConnectionSource<C> source,
            FenceSettings settings,
            Connection connection,
            FencingToken token,
            FencingToken... more) {
        Tokens tokens =
                Tokens.of(Stream.concat(Stream.of(token), Stream.of(more)).toList());
        new JoinedTransaction<>(source, settings, connection, tokens).run();
    }

    private void run() {
        try {
            requireFreshTransaction();
        } catch (SQLException e) {
            throw failed(refused(e));
        }
        int networkTimeoutMillis = -1;
        try {
            networkTimeoutMillis = connection.getNetworkTimeout();
            limitNetwork(tokens.longestAnswer(FenceSettings.WITHOUT_LEASE));
            GuardSql.join(connection, tokens, FenceSettings.WITHOUT_LEASE, settings.transactionTimeout());
        } catch (SQLException e) {
            throw failed(refused(e));
        } finally {
            restoreNetwork(networkTimeoutMillis);
        }
    }

    private void requireFreshTransaction() throws SQLException {
        Session.requireDriver(connection);
        if (connection.getAutoCommit()) {
            throw new UnfencedWriteException(
                    step + " on " + resource
                            + " refused: the connection is in auto-commit mode, so entering would end with"
                            + " its own statement. Begin a transaction first (setAutoCommit(false), Jdbi's inTransaction), enter,"
                            + " then read and write.",
                    null);
        }
        if (!GuardedConnection.isGuarded(connection) && Session.rollsBackEachFailure(connection)) {
            throw new UnfencedWriteException(
                    step + " on " + resource
                            + " refused: the driver's autosave=always sets a savepoint before each statement and goes back to it"
                            + " when one fails, so no refusal could end this transaction. Nothing was sent; set autosave=never,"
                            + " or use Claim.inTransaction.",
                    null);
        }
        try {
            OpenTransactions.requireNoneBeside(connection, source, tokens, step);
        } catch (IllegalStateException waitsForItself) {
            throw failed(waitsForItself);
        }
        // The driver sends BEGIN with the first statement: while it is idle, nothing was sent.
        TransactionState state = Session.transactionState(connection);
        if (state == TransactionState.FAILED) {
            throw new UnfencedWriteException(
                    step + " on " + resource
                            + " refused: the transaction has failed already, and nothing can be done in it."
                            + " Roll it back, and enter first in a new one.",
                    null);
        }
        if (state == TransactionState.OPEN) {
            Optional<String> touched = GuardSql.touched(connection);
            if (touched.isPresent()) {
                throw failed(new UnfencedWriteException(
                        step + " on " + resource + " refused: this transaction has used " + touched.get()
                                + " already, and what it has read may be older than the claim. It can only be rolled back now."
                                + " Enter first in the transaction; settings may come before.",
                        null));
            }
        }
    }

    private FencelineException refused(SQLException e) {
        if (SqlFailure.isConnectionLost(e, connection)) {
            return Refusals.lost(
                    step, resource, "Nothing of the transaction was committed. Run it again under the same claim.", e);
        }
        if (SqlFailure.has(e, SqlFailure.ENTERED_TOO_LATE)) {
            return new UnfencedWriteException(
                    step + " on " + resource
                            + " refused: a savepoint was set before it in this transaction, and a rollback"
                            + " to that would free the mark and let the rest be written without the fence. It can only be rolled"
                            + " back now. Enter first, then set savepoints.",
                    e);
        }
        if (SqlFailure.has(e, SqlFailure.NOT_THE_MARK) || SqlFailure.isRetryable(e) || SqlFailure.isTimeout(e)) {
            return notEntered(e);
        }
        return Refusals.refused(step, resource, e, connection);
    }

    private FencelineException notEntered(SQLException e) {
        if (GuardedConnection.isGuarded(connection)) {
            // A unit of another lock, which is not ours to roll back: the marks cannot be read in it any more.
            return SqlFailure.has(e, SqlFailure.NOT_THE_MARK)
                    ? new UnfencedWriteException(
                            step + " on " + resource + " refused inside of a fenced transaction of other locks: "
                                    + SqlFailure.text(e)
                                    + ". That transaction is rolled back too. Claim all locks together (fencedAll).",
                            e)
                    : Refusals.conflict(step, resource, "it could not enter: " + SqlFailure.text(e), e);
        }
        try {
            Claim<C> claim = new Claim<>(source, settings, tokens, null);
            Optional<FencelineException> refusal =
                    Resuming.refusal(claim, "Entering", GuardSql.marks(connection, tokens), e);
            if (refusal.isPresent()) {
                return refusal.get();
            }
            String why = "it could not enter: " + SqlFailure.text(e);
            if (SqlFailure.has(e, SqlFailure.LOCK_TIMEOUT)) {
                why += ", blocked by " + Blockers.names(connection, tokens);
            }
            return Refusals.conflict(step, resource, why, e);
        } catch (SQLException onReading) {
            e.addSuppressed(onReading);
            return Refusals.lost(
                    step, resource, "Nothing of the transaction was committed. Run it again under the same claim.", e);
        }
    }

    /**
     * Makes sure that nothing can be committed any more, whatever the caller does with the exception: also roll back to a savepoint,
     * which must therefore be gone, or leave that to the driver.
     */
    private <E extends RuntimeException> E failed(E refusal) {
        if (GuardedConnection.isGuarded(connection)) {
            // The unit that it belongs to looks at its failures when it ends, and rolls back by itself.
            try (Statement statement = connection.createStatement()) {
                statement.execute(FAIL);
            } catch (SQLException intended) {
                // Ours.
            }
            return refusal;
        }
        try (Statement statement = connection.createStatement()) {
            PgConnection driver = connection.unwrap(PgConnection.class);
            AutoSave chosen = driver.getAutosave();
            driver.setAutosave(AutoSave.NEVER);
            try {
                statement.execute("ROLLBACK");
                statement.execute(FAIL);
            } finally {
                driver.setAutosave(chosen);
            }
        } catch (SQLException intended) {
            // Ours, or that of a transaction that has failed already, or of a connection that is gone: all the same.
        }
        return refusal;
    }

    private void limitNetwork(Duration limit) throws SQLException {
        connection.setNetworkTimeout(Runnable::run, GuardSql.millis(limit));
    }

    private void restoreNetwork(int millis) {
        try {
            if (millis >= 0 && !connection.isClosed()) {
                connection.setNetworkTimeout(Runnable::run, millis);
            }
        } catch (SQLException broken) {
            // What became of entering is decided already; whoever uses the connection next finds out.
        }
    }
}
