package dev.fenceline.jdbc;

import dev.fenceline.FencelineException;
import dev.fenceline.OutcomeUnknownException;
import dev.fenceline.OutcomeUnknownException.Resolution;
import java.sql.SQLException;
import java.time.Duration;
import java.time.OffsetDateTime;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * Settles whether a transaction committed whose COMMIT got no answer.
 *
 * <p>To look for its record is not enough: the COMMIT may still be on its way. So the resolver writes the record itself. Either
 * that waits for the transaction and finds its record, or it succeeds, and the transaction's own insert can never commit.
 */
final class CommitResolver<C> implements OutcomeUnknownException.Resolver {

    private final ConnectionSource<C> source;
    private final Tokens tokens;
    private final UUID operation;
    private final OffsetDateTime enteredAt;
    private final Duration patience;

    CommitResolver(
            ConnectionSource<C> source, Tokens tokens, UUID operation, OffsetDateTime enteredAt, Duration patience) {
        this.source = source;
        this.tokens = tokens;
        this.operation = operation;
        this.enteredAt = enteredAt;
        this.patience = patience;
    }

    @Override
    public Resolution resolve() {
        String resource = tokens.resource();
        String outcome;
        try (Session<C> session = source.open(new TransactionGuard(resource))) {
            session.limitNetwork(patience.plus(FenceSettings.NETWORK_ALLOWANCE));
            outcome = GuardSql.resolve(session.connection(), operation, enteredAt, patience);
        } catch (SQLException | FencelineException e) {
            throw unknown("asking did not settle it: " + SqlFailure.text(e) + ". Call resolve() later", this, e);
        }
        return switch (outcome) {
            case "applied" -> Resolution.APPLIED;
            case "never" -> Resolution.NEVER_APPLIED;
            default ->
                throw unknown(
                        "it entered more than 7 days ago, and records are not kept for longer. Look at the data",
                        null,
                        null);
        };
    }

    private OutcomeUnknownException unknown(
            String why, OutcomeUnknownException.@Nullable Resolver resolver, @Nullable Throwable cause) {
        return new OutcomeUnknownException(
                "Commit of operation " + operation + " on " + tokens.resource() + " under " + tokens
                        + " may have happened: the answer was lost, and " + why
                        + " before the work is done again.",
                resolver,
                cause);
    }
}
