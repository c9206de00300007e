package dev.fenceline.jdbc;

import dev.fenceline.FencelineEvent.WriteOutcome;
import dev.fenceline.FencelineException;
import dev.fenceline.Work;
import java.sql.SQLException;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Work in one fenced transaction, on a connection of its own: it returns normally iff that committed while the marks were ours. */
final class FencedUnit<C> {

    private static final String STEP = "Transaction";

    private final ConnectionSource<C> source;
    private final FenceSettings settings;
    private final Claim<C> claim;
    private final Entry entry;
    private final TransactionGuard guard;
    private @Nullable FencedTransaction<C> transaction;

    FencedUnit(ConnectionSource<C> source, FenceSettings settings, Claim<C> claim, Entry entry) {
        this(
                source,
                settings,
                claim,
                entry,
                new TransactionGuard(claim.presented().resource()));
    }

    FencedUnit(
            ConnectionSource<C> source, FenceSettings settings, Claim<C> claim, Entry entry, TransactionGuard guard) {
        this.source = source;
        this.settings = settings;
        this.claim = claim;
        this.entry = entry;
        this.guard = guard;
    }

    /** Watches over the connection that the work is given. */
    TransactionGuard guard() {
        return guard;
    }

    <T, X extends Exception> T run(Work<C, T, X> work) throws X {
        long begun = System.nanoTime();
        WriteOutcome outcome = WriteOutcome.ROLLED_BACK;
        try {
            T result = inSession(work);
            outcome = WriteOutcome.APPLIED;
            return result;
        } catch (FencelineException e) {
            outcome = WriteEnd.outcome(e);
            throw e;
        } finally {
            FencedTransaction<C> begunOne = transaction;
            if (begunOne != null) {
                begunOne.tell(outcome);
            } else if (entry != Entry.READING) {
                WriteEnd.tell(settings, claim.presented(), outcome, begun);
            }
        }
    }

    private <T, X extends Exception> T inSession(Work<C, T, X> work) throws X {
        claim.refuseIfOvertaken(STEP);
        try (Session<C> session = open()) {
            session.restoreWith(guard::restore);
            FencedTransaction<C> begun = new FencedTransaction<>(source, settings, claim, entry, session, guard, STEP);
            transaction = begun;
            begun.beginOnSession();
            T result = runIn(session, begun, work);
            begun.end();
            return result;
        }
    }

    private Session<C> open() {
        try {
            return source.open(guard);
        } catch (SQLException e) {
            throw Refusals.notOpened(STEP, claim.presented().resource(), e);
        }
    }

    private <T, X extends Exception> T runIn(Session<C> session, FencedTransaction<C> begun, Work<C, T, X> work)
            throws X {
        begun.begin();
        try {
            return OpenWork.within(source.origin(), claim.presented(), () -> work.with(session.context()));
        } catch (Throwable escaped) {
            guard.end();
            Optional<FencelineException> ours = begun.failed(escaped);
            if (ours.isPresent() && begun.isDriverFailure(escaped)) {
                throw ours.get();
            }
            ours.filter(said -> said != escaped).ifPresent(escaped::addSuppressed);
            throw escaped;
        } finally {
            guard.end();
        }
    }
}
