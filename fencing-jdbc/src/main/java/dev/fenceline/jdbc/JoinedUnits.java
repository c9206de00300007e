package dev.fenceline.jdbc;

import dev.fenceline.Work;
import java.util.Optional;
import org.jdbi.v3.core.Handle;

/** Units whose work is one transaction on one handle, whatever transactions it believes to begin and to end. */
record JoinedUnits(JdbiFence fence) implements UnitKind<Handle> {

    /** One that is open: its claim, its handle, and how its inner transactions stand. */
    static final class Open extends OpenUnit<Handle> {

        private final Claim<Handle> claim;
        private final Handle handle;
        private final InnerTransactions inner;

        Open(Object origin, Claim<Handle> claim, Handle handle, InnerTransactions inner) {
            super(origin, claim);
            this.claim = claim;
            this.handle = handle;
            this.inner = inner;
        }

        Claim<Handle> claim() {
            return claim;
        }

        @Override
        Handle context() {
            return handle;
        }
    }

    /** The unit of this thread over that Jdbi. */
    static Optional<Open> open(Object origin) {
        return OpenUnits.over(origin).map(Open.class::cast);
    }

    @Override
    public Object origin() {
        return fence.source().origin();
    }

    @Override
    public void requireNothingRead(Locking<?> locking) {
        OpenTransactions.requireNone(fence.source(), locking.names(), "Acquiring the lock for a unit");
        OpenWork.requireNoneAround(origin(), locking.names());
        OpenHandles.requireNoTransaction(fence.jdbi(), locking.names());
    }

    @Override
    public <T, X extends Exception> T open(Locking.Held<?> held, Work<Handle, T, X> work) throws X {
        Claim<Handle> claim = fence.claim(held.tokens(), held.hold());
        InnerTransactions inner = new InnerTransactions();
        return claim.inTransaction(
                inner, handle -> OpenUnits.within(new Open(origin(), claim, handle, inner), () -> work.with(handle)));
    }

    @Override
    public <T, X extends Exception> T join(OpenUnit<Handle> open, Work<Handle, T, X> work) throws X {
        return ((Open) open).inner.run(() -> work.with(open.context()));
    }
}
