package dev.fenceline.jdbc;

import dev.fenceline.Action;
import dev.fenceline.FencedLease;
import dev.fenceline.FencelineEvent.StaleRefused;
import dev.fenceline.FencingToken;
import dev.fenceline.StaleTokenException;
import dev.fenceline.Work;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/**
 * The right to write under one token, for as long as nobody newer has claimed.
 *
 * <p><b>Guarantees:</b> each transaction commits only if the mark equals this token from its first statement to its commit; so
 * of all accepted transactions under a lock, each saw what the one before it wrote. Transactions of one claim run one after
 * another too, whichever threads they run on.
 *
 * <p><b>Not guaranteed:</b> that the lease still runs. It need not: the fence decides, not the lease.
 *
 * <p><b>Thread-safety:</b> any thread.
 *
 * @param <C> what work is given: {@code java.sql.Connection}, or Jdbi's {@code Handle}
 */
public final class Claim<C> {

    private final ConnectionSource<C> source;
    private final FenceSettings settings;
    private final FencingToken token;
    private final @Nullable FencedLease lease;
    private final AtomicReference<@Nullable FencingToken> overtakenBy = new AtomicReference<>();

    Claim(ConnectionSource<C> source, FenceSettings settings, FencingToken token, @Nullable FencedLease lease) {
        this.source = source;
        this.settings = settings;
        this.token = token;
        this.lease = lease;
    }

    /**
     * Returns the token that was claimed, to be handed on to whoever resumes this work elsewhere.
     *
     * @return the token
     */
    public FencingToken token() {
        return token;
    }

    /**
     * Runs work in one transaction that commits only while this token is the newest.
     *
     * <p><b>Guarantees:</b> when this returns, the work is committed. The transaction enters first, and waits for another one of
     * the same lock.
     *
     * <p><b>Blocking:</b> entering waits at most for what is left of the lease, or a second if it is lost. The database ends a
     * session that then stays idle for as long.
     *
     * <p><b>Errors:</b> what the work throws comes out as it is, and the transaction is rolled back. Only where it is the driver's
     * own exception, for a lost connection or a lost race, one of those below takes its place, with it as the cause.
     *
     * @param work reads, computes and writes; may be run again under the same claim after a
     *     {@link dev.fenceline.RetryableConflictException}
     * @param <T> the result
     * @param <X> what the work may throw
     * @return what the work returned
     * @throws X as the work did
     * @throws IllegalStateException when this thread is inside another transaction of the same claim; nothing was sent
     * @throws StaleTokenException when a newer holder has claimed; nothing happened
     * @throws dev.fenceline.RetryableConflictException when the transaction lost a race; nothing happened
     * @throws dev.fenceline.TransactionRolledBackException when a statement failed and the work went on, or a constraint refused
     *     the commit; nothing happened
     * @throws dev.fenceline.UnfencedWriteException when the work tried to end the transaction, or did, in which
     *     case the message says what may be committed
     * @throws dev.fenceline.TokenRejectedException when the mark is older than this token; nothing happened
     * @throws dev.fenceline.BackendUnavailableException when the connection was lost before the commit was sent; nothing happened
     * @throws dev.fenceline.OutcomeUnknownException when the answer to the commit was lost, and asking did not settle
     *     it; or when the connection was lost, the work may have committed by itself, and the database does not answer
     */
    public <T, X extends Exception> T inTransaction(Work<C, T, X> work) throws X {
        OpenTransactions.begin(source, token);
        try {
            return new FencedUnit<>(source, settings, this).run(work);
        } finally {
            OpenTransactions.end(source, token);
        }
    }

    /**
     * Runs work without a result in one transaction; else as {@link #inTransaction}.
     *
     * @param action reads, computes and writes
     * @param <X> what the work may throw
     * @throws X as the work did
     */
    public <X extends Exception> void useTransaction(Action<C, X> action) throws X {
        this.<Boolean, X>inTransaction(context -> {
            action.with(context);
            return true;
        });
    }

    /** How long a transaction may wait at entering, and lie idle afterwards. */
    Duration patience() {
        return Patience.of(lease);
    }

    /** A stale session is over: marks only rise, so asking again could only give the same answer. */
    void refuseIfOvertaken() {
        FencingToken newest = overtakenBy.get();
        if (newest != null) {
            throw new StaleTokenException("Transaction", Refusals.resource(token.lock()), token, newest, null);
        }
    }

    /** Remembers that the session is over, and tells so once. */
    StaleTokenException overtaken(String step, FencingToken newest, @Nullable Throwable cause) {
        String resource = Refusals.resource(token.lock());
        if (overtakenBy.getAndSet(newest) == null) {
            settings.listener().tell(new StaleRefused(resource, token, newest));
        }
        return new StaleTokenException(step, resource, token, newest, cause);
    }
}
