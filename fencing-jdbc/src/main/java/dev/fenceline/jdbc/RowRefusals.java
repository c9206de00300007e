package dev.fenceline.jdbc;

import dev.fenceline.FencelineException;
import dev.fenceline.OutcomeUnknownException;
import dev.fenceline.RetryableConflictException;
import dev.fenceline.RowExistsException;
import dev.fenceline.RowMissingException;
import dev.fenceline.TokenRejectedException;
import dev.fenceline.UnfencedWriteException;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Says in our words why a statement of row mode did nothing. */
final class RowRefusals {

    static final String DUPLICATE = "23505";
    static final String TOO_OLD = "FL007";

    private static final Duration FUTURE_BOUND = Duration.ofHours(25);

    private RowRefusals() {}

    /** Empty is to mean that there is no such row, so nothing must not be made of one that is there. */
    static <R> R made(@Nullable R object, RowTarget target) {
        if (object == null) {
            throw new IllegalStateException(
                    "Reading of " + target.resource() + " under token " + target.token()
                            + " refused: the row is there, and the reader made null of it, which would say that it is not. A claim"
                            + " that was under way is made. Return an object; for a column that may be null, an Optional of it.");
        }
        return object;
    }

    /** The server refused the statement before it looked at any row: because of the token, or of how it is set up. */
    static Optional<FencelineException> ofServer(
            String step, RowTarget target, SQLException said, Connection connection) {
        if (SqlFailure.has(said, SqlFailure.FAR_FUTURE)) {
            Duration ahead = SqlFailure.detail(said)
                    .map(micros -> Duration.of(Long.parseLong(micros), ChronoUnit.MICROS))
                    .orElse(FUTURE_BOUND);
            return Optional.of(
                    TokenRejectedException.farFuture(target.resource(), target.token(), ahead, FUTURE_BOUND));
        }
        if (SqlFailure.isOfProtection(said)) {
            return Optional.of(new UnfencedWriteException(
                    step + " of " + target.resource() + " under token " + target.token()
                            + " refused: its table is protected, and row mode does not enter: " + SqlFailure.text(said)
                            + ". Nothing of it happened. Write the rows of a protected table in a transaction or a single"
                            + " statement under a claim of PostgresFence or JdbiFence, or take the protection off with"
                            + " fenceline.unprotect.",
                    said));
        }
        return SqlFailure.has(said, SqlFailure.ASYNCHRONOUS_COMMIT) || SqlFailure.has(said, SqlFailure.STANDBY)
                ? Optional.of(Refusals.refused(step, target.resource(), said, connection))
                : Optional.empty();
    }

    static RetryableConflictException conflict(String step, RowTarget target, String why, @Nullable Throwable cause) {
        return new RetryableConflictException(
                step + " of " + target.resource() + " under token " + target.token() + " refused: " + why
                        + ". Nothing of it happened. The claim is still good; read the row again under it, and try again.",
                cause);
    }

    /** Where the transaction is the user's, all of it has failed. */
    static RetryableConflictException conflictWithin(String step, RowTarget target, SQLException said) {
        return new RetryableConflictException(
                step + " of " + target.resource() + " under token " + target.token() + " refused: "
                        + SqlFailure.text(said)
                        + ". Its transaction has failed: roll back, and run it again under the same claim, from its first"
                        + " read on.",
                said);
    }

    /** Where the transaction cannot see what the claim found. */
    static RetryableConflictException olderSnapshot(String step, RowTarget target, RowSnapshot snapshot, RowMark mark) {
        return new RetryableConflictException(
                step + " of " + target.resource() + " under token " + target.token()
                        + " refused: its transaction looks at a snapshot (" + snapshot.isolation()
                        + ") from before the row was claimed, where "
                        + (mark.exists() ? "the row's mark is " + mark.row() : "there is no such row")
                        + ". Its transaction has failed: roll back, and run it again in one that begins after the claim.",
                null);
    }

    static RowMissingException missing(String step, RowTarget target, RowMark mark) {
        String why = mark.guard().of(target.token()) == Mark.Standing.MINE
                ? "it is deleted, or was never inserted"
                : "it was removed without the fence, or was never claimed; the guard's mark is " + mark.guard();
        return new RowMissingException(
                step + " of " + target.resource() + " under token " + target.token()
                        + " refused: there is no such row: " + why
                        + ". Nothing happened. Insert it under the same claim, or stop.",
                null);
    }

    static RowExistsException exists(RowTarget target, String mark, SQLException said) {
        return new RowExistsException(
                "Insert of " + target.resource() + " under token " + target.token() + " refused: the row exists, "
                        + mark + ". Nothing happened. Read it under a claim and update it, or use upsert.",
                said);
    }

    static FencelineException notClaimed(RowTarget target, RowMark mark, @Nullable Throwable cause) {
        FencelineException rejected = TokenRejectedException.notClaimed(
                target.resource(), target.token(), mark.ruling().toString());
        if (cause != null) {
            rejected.addSuppressed(cause);
        }
        return rejected;
    }

    static OutcomeUnknownException unknown(String step, RowTarget target, String why, @Nullable Throwable cause) {
        return new OutcomeUnknownException(
                step + " of " + target.resource() + " under token " + target.token() + " may have happened: " + why
                        + ". Read the row under its claim before the write is done again; a fence that is recorded()"
                        + " settles a lost answer by itself.",
                null,
                cause);
    }

    static OutcomeUnknownException uncounted(String step, RowTarget target, long count) {
        return unknown(step, target, "the driver does not say how many rows were written, but " + count, null);
    }
}
