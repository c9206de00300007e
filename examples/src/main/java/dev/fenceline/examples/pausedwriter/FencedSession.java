package dev.fenceline.examples.pausedwriter;

import dev.fenceline.FencedLease;
import dev.fenceline.StaleTokenException;
import dev.fenceline.jdbc.Claim;
import dev.fenceline.jdbc.PostgresFence;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/** Fenceline: claims before the first read; the SQL is that of the run without any check. */
final class FencedSession implements Session {

    /** Where the read stands. */
    enum Shape {
        /** Reads in a transaction of its own and writes in another, both under one claim. */
        TWO_TRANSACTIONS,
        /** Reads and writes in one transaction. */
        ONE_TRANSACTION
    }

    private final PostgresFence fence;
    private final Books books;
    private final Shape shape;

    FencedSession(PostgresFence fence, Books books, Shape shape) {
        this.fence = fence;
        this.books = books;
        this.shape = shape;
    }

    @Override
    public Written book(FencedLease lease, Job job, Barrier barrier) throws SQLException {
        long token = lease.token().value();
        Claim<Connection> claim = fence.claim(lease);
        // What is about to be written, for the story that a refusal has to tell.
        AtomicReference<@Nullable BalanceUpdate> intended = new AtomicReference<>();
        Barrier noted = (granted, state) -> {
            intended.set(BalanceUpdate.of(job, granted, state.balanceCents() + job.changeCents()));
            barrier.reached(granted, state);
        };
        try {
            if (shape == Shape.ONE_TRANSACTION) {
                return claim.inTransaction(connection -> {
                    AccountState state = books.read(connection, job.account());
                    noted.reached(token, state);
                    return books.write(connection, job, token, state);
                });
            }
            AccountState state = claim.inTransaction(connection -> books.read(connection, job.account()));
            noted.reached(token, state);
            return claim.inTransaction(connection -> books.write(connection, job, token, state));
        } catch (StaleTokenException e) {
            BalanceUpdate update = intended.get();
            if (update == null) {
                // Overtaken before the first read: there was no write that could have been refused.
                throw e;
            }
            throw new WriteRefused(update.shown(), String.valueOf(e.getMessage()), e);
        }
    }
}
