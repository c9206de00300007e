package dev.fenceline.jdbc;

import dev.fenceline.FencelineException;
import dev.fenceline.TokenRejectedException;
import java.sql.SQLException;
import org.jspecify.annotations.Nullable;

/** Compares a token with the mark, without ever raising it. */
final class Resuming {

    private Resuming() {}

    /** Returns normally iff the mark is the claim's token now; entering decides again. */
    static <C> void check(ConnectionSource<C> source, Claim<C> claim) {
        String resource = Refusals.resource(claim.token().lock());
        Session<C> opened;
        try {
            opened = source.open(new TransactionGuard(resource));
        } catch (SQLException e) {
            throw Refusals.notOpened("Resuming", resource, e);
        }
        try (Session<C> session = opened) {
            Mark mark = readMark(session, claim, resource);
            if (mark.of(claim.token()) != Mark.Standing.MINE) {
                throw refusal(claim, "Resuming", mark, null);
            }
        }
    }

    /** The exception for a mark that is not the claim's token. */
    static <C> FencelineException refusal(Claim<C> claim, String step, Mark mark, @Nullable Throwable cause) {
        if (mark.of(claim.token()) == Mark.Standing.OVERTAKEN) {
            return claim.overtaken(step, mark.newest().orElseThrow(), cause);
        }
        FencelineException rejected = TokenRejectedException.notClaimed(
                Refusals.resource(claim.token().lock()), claim.token(), mark.toString());
        if (cause != null) {
            rejected.addSuppressed(cause);
        }
        return rejected;
    }

    private static <C> Mark readMark(Session<C> session, Claim<C> claim, String resource) {
        try {
            session.limitNetwork(FenceSettings.NETWORK_ALLOWANCE);
            return GuardSql.mark(session.connection(), claim.token().lock());
        } catch (SQLException e) {
            if (SqlFailure.isConnectionLost(e, session.connection())) {
                throw Refusals.lost("Resuming", resource, "Nothing happened; try again.", e);
            }
            throw Refusals.refused("Resuming", resource, e, session.connection());
        }
    }
}
