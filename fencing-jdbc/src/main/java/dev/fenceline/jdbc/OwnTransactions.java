package dev.fenceline.jdbc;

import dev.fenceline.Work;
import java.sql.Connection;
import java.util.Optional;

/** Units whose work begins and ends its transactions itself, through the fence's data source. */
final class OwnTransactions implements UnitKind<Claim<Connection>> {

    private final PostgresFence fence;

    OwnTransactions(PostgresFence fence) {
        this.fence = fence;
    }

    /** The unit of this thread over that data source. */
    static Optional<OwnUnit> open(Object origin) {
        return OpenUnits.over(origin).map(OwnUnit.class::cast);
    }

    @Override
    public Object origin() {
        return fence.source().origin();
    }

    @Override
    public void requireNothingRead(Locking<?> locking) {
        OpenTransactions.requireNone(fence.source(), locking.names(), "Acquiring the lock for a unit");
        OpenWork.requireNoneAround(origin(), locking.names());
        PassedConnections.requireNoTransaction(origin(), locking.names());
    }

    @Override
    public <T, X extends Exception> T open(Locking.Held<?> held, Work<Claim<Connection>, T, X> work) throws X {
        OwnUnit unit = new OwnUnit(fence.source(), fence.settings(), fence.claim(held.tokens(), held.hold()));
        T result;
        try {
            result = OpenUnits.within(unit, () -> work.with(unit.context()));
        } catch (Throwable escaped) {
            unit.endAfter(escaped);
            throw escaped;
        }
        unit.end();
        return result;
    }

    @Override
    public <T, X extends Exception> T join(OpenUnit<Claim<Connection>> open, Work<Claim<Connection>, T, X> work)
            throws X {
        return work.with(open.context());
    }
}
