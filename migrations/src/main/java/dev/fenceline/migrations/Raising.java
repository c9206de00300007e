package dev.fenceline.migrations;

import dev.fenceline.BackendMisconfiguredException;
import dev.fenceline.FencelineException;
import dev.fenceline.LockName;
import dev.fenceline.RetryableConflictException;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/** Raises single marks, and tells what kept one from being raised. */
final class Raising {

    private static final String BEGIN = "SELECT fenceline.begin_raising_v1(?)";
    private static final String RAISE = "SELECT fenceline.raise_v1(?, ?, ?)";
    private static final String HIGHEST = "FL013";

    private Raising() {}

    /** Records a raising, of one lock or of all, and answers with the holder to do it with. */
    static UUID begin(Connection connection, @Nullable String lock) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(BEGIN)) {
            statement.setString(1, lock);
            try (ResultSet row = statement.executeQuery()) {
                row.next();
                return row.getObject(1, UUID.class);
            }
        }
    }

    /** Raises one mark, in a transaction of its own; answers with what was in the way. */
    static Optional<Obstacle> raise(Connection connection, LockName lock, UUID holder, Duration patience)
            throws SQLException {
        return raise(connection, lock.toString(), holder, patience);
    }

    static Optional<Obstacle> raise(Connection connection, String lock, UUID holder, Duration patience)
            throws SQLException {
        try {
            return ReadCommitted.ask(connection, session -> {
                try (PreparedStatement statement = session.prepareStatement(RAISE)) {
                    statement.setString(1, lock);
                    statement.setObject(2, holder);
                    statement.setInt(3, (int) patience.toMillis());
                    statement.executeQuery().close();
                    return Optional.empty();
                }
            });
        } catch (SQLException e) {
            if (Sql.state(e).equals(HIGHEST)) {
                return Optional.of(new TooHigh(Sql.firstLine(e), e));
            }
            if (!Questions.isInTheWay(e)) {
                throw e;
            }
            return Optional.of(new InUse(patience, FenceOperations.blockers(connection, lock), e));
        }
    }

    /** What kept a mark from being raised. */
    sealed interface Obstacle permits InUse, TooHigh {

        /** For a list of marks that are left. */
        String reason();

        FencelineException refusal(String step);
    }

    /** A transaction works under the mark, or did a moment ago. */
    record InUse(Duration waited, List<Blocker> blockers, SQLException cause) implements Obstacle {

        @Override
        public String reason() {
            return blockers.isEmpty() ? "it was in use, and is free now" : "it is in use by " + blockers.get(0);
        }

        @Override
        public FencelineException refusal(String step) {
            String refused = step + " refused: ";
            return new RetryableConflictException(
                    blockers.isEmpty()
                            ? refused + "it was in use for " + waited.toMillis()
                                    + " ms, and is free now. Nothing happened. Raise it again."
                            : refused + "for " + waited.toMillis() + " ms a transaction under it did not end: "
                                    + blockers.get(0)
                                    + (blockers.size() == 1 ? "" : " and " + (blockers.size() - 1) + " more")
                                    + ". Nothing happened. Wait longer, or end that session, which rolls its work back: SELECT"
                                    + " pg_terminate_backend(" + blockers.get(0).pid() + ");",
                    cause);
        }
    }

    /** The mark is the highest that there is: somebody has written it by hand. */
    record TooHigh(String said, SQLException cause) implements Obstacle {

        @Override
        public String reason() {
            return "it cannot be higher, and was claimed by no fence (" + said + ")";
        }

        @Override
        public FencelineException refusal(String step) {
            return new BackendMisconfiguredException(
                    step + " failed: " + said + " (SQLSTATE " + HIGHEST
                            + "). No fence has claimed it: find out who wrote it. Then,"
                            + " with all who use this lock stopped, the owner of the schema sets it to the present by hand, with trigger"
                            + " keep_mark disabled for that statement.",
                    cause);
        }
    }
}
