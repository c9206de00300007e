package dev.fenceline.jdbc;

import dev.fenceline.FencingToken;
import dev.fenceline.LockName;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * What the database has admitted for a row: its own mark and the guard's, in one snapshot.
 *
 * @param exists whether there is such a row
 * @param row the row's mark
 * @param guard the mark that rules while there is no row
 */
record RowMark(boolean exists, Mark row, Mark guard) {

    // A mark without a holder is nobody's: something else than a fence has written it.
    private static final UUID NOBODY = new UUID(0, 0);

    /** Reads the marks as this connection sees them now: in auto-commit, the newest ones. */
    static List<RowMark> read(Connection connection, RowSql sql, List<RowTarget> targets) throws SQLException {
        List<RowMark> marks = new ArrayList<>();
        try (PreparedStatement statement = JdbcRunner.prepare(connection, sql.marks(targets));
                ResultSet found = statement.executeQuery()) {
            for (RowTarget target : targets) {
                found.next();
                LockName lock = target.token().lock();
                marks.add(new RowMark(found.getBoolean(1), mark(lock, found, 2), mark(lock, found, 4)));
            }
        }
        return marks;
    }

    private static Mark mark(LockName lock, ResultSet found, int column) throws SQLException {
        long value = found.getLong(column);
        @Nullable UUID holder = found.getObject(column + 1, UUID.class);
        return new Mark(
                value > 0
                        ? Optional.of(new FencingToken(lock, value, holder == null ? NOBODY : holder))
                        : Optional.empty());
    }

    /** Returns the mark of somebody who has taken over, the newer one if both have been. */
    Optional<FencingToken> overtakenBy(FencingToken token) {
        Optional<FencingToken> byRow = overtaking(row, token);
        Optional<FencingToken> byGuard = overtaking(guard, token);
        if (byRow.isPresent() && byGuard.isPresent()) {
            return byRow.get().value() >= byGuard.get().value() ? byRow : byGuard;
        }
        return byRow.or(() -> byGuard);
    }

    private static Optional<FencingToken> overtaking(Mark mark, FencingToken token) {
        return mark.of(token) == Mark.Standing.OVERTAKEN ? mark.newest() : Optional.empty();
    }

    /** How the token stands to the mark that rules. */
    Mark.Standing of(FencingToken token) {
        return ruling().of(token);
    }

    Mark ruling() {
        return exists ? row : guard;
    }
}
