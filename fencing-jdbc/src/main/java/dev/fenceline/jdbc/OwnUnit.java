package dev.fenceline.jdbc;

import dev.fenceline.FencelineException;
import dev.fenceline.StaleTokenException;
import dev.fenceline.TransactionRolledBackException;
import dev.fenceline.UnfencedWriteException;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/** A unit with transactions of its own, one after the other, on connections that its work takes and gives back. */
final class OwnUnit extends OpenUnit<Claim<Connection>> {

    private final ConnectionSource<Connection> source;
    private final FenceSettings settings;
    private final Claim<Connection> claim;
    private final Set<UnitConnection> connections = ConcurrentHashMap.newKeySet();
    // What was said in our words where the work got the driver's.
    private final ConcurrentLinkedQueue<Map.Entry<SQLException, FencelineException>> said =
            new ConcurrentLinkedQueue<>();
    private final AtomicReference<@Nullable FencelineException> lasting = new AtomicReference<>();
    private volatile boolean ended;

    OwnUnit(ConnectionSource<Connection> source, FenceSettings settings, Claim<Connection> claim) {
        super(source.origin(), claim);
        this.source = source;
        this.settings = settings;
        this.claim = claim;
    }

    @Override
    Claim<Connection> context() {
        return claim;
    }

    /** Fences a connection that was just opened, until the unit ends. */
    Connection fenced(Connection opened) throws SQLException {
        UnitConnection connection = UnitConnection.over(this, Session.of(opened, opened, opened::close));
        connections.add(connection);
        claim.connectionTaken();
        return connection.shown();
    }

    FencedTransaction<Connection> transaction(Session<Connection> session, TransactionGuard guard) {
        Entry entry = settings.has(FenceSettings.Choice.CONCURRENT) ? Entry.CONCURRENT : Entry.ALONE;
        return new FencedTransaction<>(source, settings, claim, entry, session, guard, step());
    }

    /** Says with a refusal what stays. */
    private String step() {
        int before = claim.committed();
        return before == 0 ? "Transaction" : "Transaction (after " + counted(before) + " of this unit, reads included)";
    }

    private static String counted(int transactions) {
        return transactions + (transactions == 1 ? " committed transaction" : " committed transactions");
    }

    OpenTransactions.Ending register(TransactionGuard guard) {
        return OpenTransactions.begin(source, tokens(), Optional.of(guard));
    }

    void closed(UnitConnection connection) {
        connections.remove(connection);
    }

    boolean hasEnded() {
        return ended;
    }

    /** Keeps what stands behind a failure that the work was given as the driver's. */
    void note(SQLException failure, FencelineException ours) {
        said.add(Map.entry(failure, ours));
        FencelineException unused = noted(ours);
    }

    /** Keeps a refusal that is true of the whole unit, and that no rollback mends, in case the work swallows it. */
    FencelineException noted(FencelineException ours) {
        if (ours instanceof StaleTokenException || ours instanceof UnfencedWriteException) {
            swallowed(ours);
        }
        return ours;
    }

    /** Keeps a refusal that is to come again when the unit ends. */
    void swallowed(FencelineException ours) {
        lasting.compareAndSet(null, ours);
    }

    /** The work returned: takes its connections away, and throws if not all that it did is committed. */
    void end() {
        boolean lost = close();
        FencelineException refusal = lasting.get();
        if (refusal != null) {
            throw refusal;
        }
        claim.refuseIfOvertaken(step());
        if (lost) {
            throw new TransactionRolledBackException(
                    "Unit on " + tokens().resource() + " under " + tokens()
                            + " ended with a transaction open on a connection that was not closed; it is rolled back, and "
                            + (claim.committed() == 0
                                    ? "nothing of the unit happened"
                                    : "what the unit committed before stays, " + counted(claim.committed())
                                            + ", reads included")
                            + ". Commit and close inside of the unit.",
                    null);
        }
    }

    /** The work threw: takes its connections away. Throws what takes the place of the driver's exception, if it is that. */
    void endAfter(Throwable escaped) {
        boolean unused = close();
        Optional<FencelineException> ours = saidOf(escaped).or(() -> Optional.ofNullable(lasting.get()));
        if (ours.isEmpty() || FencelineException.in(escaped).isPresent()) {
            return;
        }
        if (ours.get().getCause() == escaped) {
            throw ours.get();
        }
        escaped.addSuppressed(ours.get());
    }

    private Optional<FencelineException> saidOf(Throwable escaped) {
        for (Map.Entry<SQLException, FencelineException> known : said) {
            for (Throwable cause = escaped; cause != null; cause = cause.getCause()) {
                if (cause == known.getKey()) {
                    return Optional.of(known.getValue());
                }
            }
        }
        return Optional.empty();
    }

    private boolean close() {
        boolean lost = false;
        List<UnitConnection> inUse = new ArrayList<>();
        for (UnitConnection connection : connections) {
            Optional<Boolean> hadOpen = connection.tryEnd();
            if (hadOpen.isEmpty()) {
                inUse.add(connection);
            }
            lost |= hadOpen.orElse(false);
        }
        // Those that wait for what the others held go on now.
        for (UnitConnection connection : inUse) {
            lost |= connection.end();
        }
        ended = true;
        return lost;
    }
}
