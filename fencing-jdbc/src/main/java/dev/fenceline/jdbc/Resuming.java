package dev.fenceline.jdbc;

import dev.fenceline.FencelineException;
import dev.fenceline.TokenRejectedException;
import java.sql.SQLException;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Compares the tokens of a session with the marks, without ever raising one. */
final class Resuming {

    private Resuming() {}

    /** Returns normally iff the marks are the claim's tokens now; entering decides again. */
    static <C> void check(ConnectionSource<C> source, Claim<C> claim) {
        String resource = claim.presented().resource();
        Session<C> opened;
        try {
            opened = source.open(new TransactionGuard(resource));
        } catch (SQLException e) {
            throw Refusals.notOpened("Resuming", resource, e);
        }
        try (Session<C> session = opened) {
            Marks marks = readMarks(session, claim, resource);
            refusal(claim, "Resuming", marks, null).ifPresent(refusal -> {
                throw refusal;
            });
            claim.answered(marks.readAt());
        }
    }

    /** The exception for the mark that is not the claim's token; empty when all are. */
    static <C> Optional<FencelineException> refusal(
            Claim<C> claim, String step, Marks marks, @Nullable Throwable cause) {
        return marks.mismatch().map(mismatch -> refusal(claim, step, mismatch, cause));
    }

    private static <C> FencelineException refusal(
            Claim<C> claim, String step, Marks.Mismatch mismatch, @Nullable Throwable cause) {
        Mark mark = mismatch.mark();
        if (mark.of(mismatch.token()) == Mark.Standing.OVERTAKEN) {
            return claim.overtaken(step, mark.newest().orElseThrow(), cause);
        }
        FencelineException rejected = TokenRejectedException.notClaimed(
                Refusals.resource(mismatch.token().lock()), mismatch.token(), mark.toString());
        if (cause != null) {
            rejected.addSuppressed(cause);
        }
        return rejected;
    }

    private static <C> Marks readMarks(Session<C> session, Claim<C> claim, String resource) {
        try {
            session.limitNetwork(FenceSettings.NETWORK_ALLOWANCE);
            return GuardSql.marks(session.connection(), claim.presented());
        } catch (SQLException e) {
            if (SqlFailure.isConnectionLost(e, session.connection())) {
                throw Refusals.lost("Resuming", resource, "Nothing happened; try again.", e);
            }
            throw Refusals.refused("Resuming", resource, e, session.connection());
        }
    }
}
