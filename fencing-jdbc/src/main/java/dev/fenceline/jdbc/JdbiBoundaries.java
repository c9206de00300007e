package dev.fenceline.jdbc;

import dev.fenceline.UnfencedWriteException;
import java.sql.SQLException;
import java.util.Optional;
import java.util.function.Predicate;
import org.jdbi.v3.core.Handle;
import org.jdbi.v3.core.HandleCallback;
import org.jdbi.v3.core.Jdbi;
import org.jdbi.v3.core.transaction.DelegatingTransactionHandler;
import org.jdbi.v3.core.transaction.TransactionHandler;
import org.jdbi.v3.core.transaction.TransactionIsolationLevel;

/**
 * Where Jdbi begins and ends transactions on the handle of a unit: nothing is sent there, and {@link InnerTransactions} counts.
 *
 * <p>Jdbi asks {@code isInTransaction} for several purposes and does not say which. Before it opens a boundary, yes would mean "run the
 * callback as it is", and the exception that leaves it would not be seen here. To a program no would be wrong. So we look who asks.
 */
final class JdbiBoundaries extends DelegatingTransactionHandler {

    private static final StackWalker STACK = StackWalker.getInstance(StackWalker.Option.RETAIN_CLASS_REFERENCE);

    private final TransactionGuard guard;
    private final InnerTransactions inner;

    private JdbiBoundaries(TransactionHandler user, TransactionGuard guard, InnerTransactions inner) {
        super(user);
        this.guard = guard;
        this.inner = inner;
    }

    /** Has handles that a unit opens take part, and leaves all others to the handler that was there. Idempotent. */
    static void installOn(Jdbi jdbi) {
        TransactionHandler present = jdbi.getTransactionHandler();
        if (!(present instanceof OfUnits)) {
            jdbi.setTransactionHandler(new OfUnits(present));
        }
    }

    @Override
    public void begin(Handle handle) {
        inner.begin();
    }

    @Override
    public void commit(Handle handle) {
        inner.commit();
    }

    @Override
    public void rollback(Handle handle) {
        inner.rollBack();
    }

    @Override
    public boolean isInTransaction(Handle handle) {
        if (!guard.isActive()) {
            return false;
        }
        if (isAskedBy(method -> method.equals("addTransactionCallback"))) {
            throw new UnfencedWriteException(
                    "afterCommit or afterRollback inside of a fenced unit refused: Jdbi would run it at an inner commit, before"
                            + " anything is committed, or not at all. Do it when the unit has returned.",
                    null);
        }
        return !isAskedBy(method -> method.equals("inTransaction"));
    }

    /** The frames are this method, ours above, {@code Handle.isInTransaction}, and who called that. */
    private static boolean isAskedBy(Predicate<String> method) {
        return STACK.walk(frames -> frames.dropWhile(frame -> frame.getDeclaringClass() == JdbiBoundaries.class)
                .skip(1)
                .findFirst()
                .filter(frame -> frame.getDeclaringClass() == Handle.class && method.test(frame.getMethodName()))
                .isPresent());
    }

    @Override
    public <R, X extends Exception> R inTransaction(Handle handle, HandleCallback<R, X> callback) throws X {
        return inner.run(() -> callback.withHandle(handle));
    }

    @Override
    public <R, X extends Exception> R inTransaction(
            Handle handle, TransactionIsolationLevel level, HandleCallback<R, X> callback) throws X {
        // Jdbi has set the level by now, as far as it could be.
        return inTransaction(handle, callback);
    }

    /** The handler of a Jdbi that has a fence: chooses for each new handle. */
    private static final class OfUnits extends DelegatingTransactionHandler {

        OfUnits(TransactionHandler user) {
            super(user);
        }

        @Override
        public TransactionHandler specialize(Handle handle) throws SQLException {
            TransactionHandler bound = getDelegate().specialize(handle);
            Optional<TransactionGuard> fenced = JdbiFence.opening(handle);
            if (fenced.isEmpty()) {
                OpenHandles.opened(handle);
            }
            return fenced.flatMap(TransactionGuard::inner)
                    .<TransactionHandler>map(inner -> new JdbiBoundaries(bound, fenced.get(), inner))
                    .orElse(bound);
        }
    }
}
