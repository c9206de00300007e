package dev.fenceline.lock;

import dev.fenceline.BackendMisconfiguredException;
import dev.fenceline.BackendUnavailableException;
import dev.fenceline.Finding;
import dev.fenceline.LockName;
import dev.fenceline.LockOptions;
import dev.fenceline.OutcomeUnknownException;
import io.lettuce.core.RedisURI;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import java.util.Spliterator;
import java.util.Spliterators;
import java.util.stream.Stream;
import java.util.stream.StreamSupport;

/**
 * Shows an operator which locks are taken, by whom and who waits, takes one away from a holder that will not give it back, and
 * tells what of a server's settings is unsafe. Takes no lock itself, and connects to servers that {@link RedisLocks} refuses.
 *
 * <pre>{@code
 * try (LockInspector inspector = LockInspector.connect("redis://localhost:6379")) {
 *     inspector.list(LockFilter.all().startingWith("account:")).forEach(System.out::println);
 * }
 * }</pre>
 *
 * <p><b>Guarantees:</b> nothing is changed but by {@link #forceRelease}, and for moments by the keys that {@link #doctor} tries
 * permissions on. The key prefix of the options is the one that is looked at; of the others matter those that the locks use which
 * are looked after: S, K and restart delay for {@link #forceRelease}, and what {@link #doctor} compares the server with.
 *
 * <p><b>A node of {@link Redlock}</b> shows its own share of each lock, which is held where a majority of the nodes has the same grant:
 * see {@link RedlockConnector#look(LockKind, LockName)}. Nothing can be taken from a holder there.
 *
 * <p><b>Rights:</b> what {@link #find} needs every user of locks has: {@code +eval +evalsha +time +get +pttl +zrange +hget} on
 * the keys {@code ~<prefix>:v1:*}; {@link #list} needs {@code +scan +info} more, {@link #forceRelease} what a release needs, and
 * {@link #doctor} tries all that locks need; {@code +config|get} lets it see more.
 *
 * <p><b>Blocking:</b> each answer is waited for at most one {@link LockOptions#commandTimeout()}. Connecting takes as long as it
 * does for {@link RedisLocks}.
 *
 * <p><b>Interruption:</b> waiting is not interrupted; it is short, and the flag is kept.
 *
 * <p><b>Thread-safety:</b> any thread; a stream of {@link #list} one at a time.
 *
 * <p><b>Errors:</b> {@link BackendUnavailableException} where a server cannot be reached or does not answer,
 * {@link BackendMisconfiguredException} where the login or a command is refused, or the server runs in another mode.
 */
public final class LockInspector implements AutoCloseable {

    private final Connecting.Parts parts;
    private final Looking looking;

    LockInspector(Connecting.Parts parts) {
        this.parts = parts;
        this.looking = new Looking(parts.route(), parts.context());
    }

    /**
     * Connects with the defaults of {@link LockOptions}.
     *
     * @param uri as {@link RedisLocks#connect(String)} takes it, for one server or for the master that Sentinels name
     * @return an inspector to close
     * @throws IllegalArgumentException when this is no such URI; it is not repeated in the message
     */
    public static LockInspector connect(String uri) {
        return connect(uri, LockOptions.defaults());
    }

    /**
     * Connects with options.
     *
     * @param uri as {@link RedisLocks#connect(String)} takes it
     * @param options those of the locks that are looked after
     * @return an inspector to close
     * @throws IllegalArgumentException when this is no such URI; it is not repeated in the message
     */
    public static LockInspector connect(String uri, LockOptions options) {
        return RedisConnector.STANDARD.inspect(uri, options);
    }

    /**
     * Connects with options and all that Lettuce can say about a server. For TLS settings and threads of your own see
     * {@link RedisConnector#inspect(RedisURI, LockOptions)}.
     *
     * @param uri one server, or Sentinels and the name of a master; later changes to this object have no effect
     * @param options those of the locks that are looked after
     * @return an inspector to close
     */
    public static LockInspector connect(RedisURI uri, LockOptions options) {
        return RedisConnector.STANDARD.inspect(uri, options);
    }

    /**
     * Connects to all masters of a Redis Cluster.
     *
     * @param uri as {@link RedisLocks#connectCluster(String)} takes it
     * @param options those of the locks that are looked after
     * @return an inspector to close
     * @throws IllegalArgumentException when this is no such URI; it is not repeated in the message
     */
    public static LockInspector connectCluster(String uri, LockOptions options) {
        return RedisConnector.STANDARD.inspectCluster(uri, options);
    }

    /**
     * Connects to all masters of a Redis Cluster.
     *
     * @param seeds some of its nodes, of which one has to answer; login and TLS of the first one are used for all nodes
     * @param options those of the locks that are looked after
     * @return an inspector to close
     */
    public static LockInspector connectCluster(Collection<RedisURI> seeds, LockOptions options) {
        return RedisConnector.STANDARD.inspectCluster(seeds, options);
    }

    /**
     * Lists the locks that are taken, on all servers, in no order. Goes through all keys of each server in small steps (SCAN), so
     * that others are not held up; with many other keys it takes many of them.
     *
     * <p><b>Guarantees:</b> a lock that is taken all the time of the listing is in it once. Each state is of one moment.
     *
     * <p><b>Not guaranteed:</b> that two states are of the same moment; what is taken or released meanwhile is in it or not. While a
     * Cluster moves a slot, or replaces a master, its locks may be missing.
     *
     * <p><b>Blocking:</b> the stream is lazy: it asks when it is read, and each time waits for at most one command timeout. What it
     * throws then is what this class says.
     *
     * @param filter which locks
     * @return to be read once, in one thread
     */
    public Stream<LockState> list(LockFilter filter) {
        LockListing listing = new LockListing(
                looking, parts.context().keys(), filter, parts.route().servers());
        return StreamSupport.stream(
                Spliterators.spliteratorUnknownSize(listing, Spliterator.DISTINCT | Spliterator.NONNULL), false);
    }

    /**
     * Looks at one lock.
     *
     * @param kind of which kind it is; the same name is another lock in the other kind
     * @param name its name
     * @return what is there; empty where the lock is free
     */
    public Optional<LockState> find(LockKind kind, LockName name) {
        return looking.await("Lock '" + name + "' not looked at: ", looking.ask(new LockKey(kind, name)));
    }

    /**
     * Tells whether this server is a node of {@link Redlock} under the key prefix of the options, so that what is shown here is its
     * share alone. Needs {@code +hget}.
     *
     * @return true where a client of Redlock has connected to it, or {@link RedlockConnector#firstStart()} has marked it
     */
    public boolean isRedlockNode() {
        return looking.await("Server not looked at: ", looking.redlock());
    }

    /**
     * Takes a lock away from the holder that was seen, and gives it to the first who waits, as the holder's own release would do.
     *
     * <p><b>Guarantees:</b> only the grant that was seen is ended. If somebody else has the lock by now, or the same process by
     * another grant, nothing is changed. The next token is above the one that is taken away.
     *
     * <p><b>Not guaranteed:</b> that the holder stops. It is not asked: it learns of the loss at its next renewal, as of a lease
     * that ran out, and works on until then; a process that is paused, or never looks at its lease, works on for longer. For a
     * <b>fenced</b> lock the fence decides: writes of the old holder are accepted until a newer one has claimed, and refused from
     * then on. To have them refused at once, raise the fence too ({@code fenceline fence raise}). For an <b>efficiency</b> lock
     * nothing else keeps two processes from doing the work at once.
     *
     * <p><b>Errors:</b> {@link OutcomeUnknownException}, not resolvable, where the answer was lost; look again.
     * {@link BackendMisconfiguredException} where the server is a node of {@link Redlock}: it would give up its own share alone.
     *
     * @param seen what {@link #find} or {@link #list} showed
     * @return what became of it
     */
    public ForcedRelease forceRelease(LockState seen) {
        LockKey lock = new LockKey(seen.kind(), seen.name());
        String what = "Lock '" + seen.name() + "' not released: ";
        if (looking.await(what, looking.redlock())) {
            throw new BackendMisconfiguredException(
                    what + parts.route().server() + " is one node of Redlock under the key prefix '"
                            + parts.context().options().keyPrefix()
                            + "'. A lock of Redlock is held at a majority of the nodes, and this one has its own share alone: without it"
                            + " the lock would stay held at the others, or its holder would lose it by the loss of one more node."
                            + " Nothing was changed. Wait until the lease is over, or stop the process that holds it, which gives it"
                            + " back or lets it end. If this server takes part in Redlock no more, delete its key '"
                            + parts.context().keys().node() + "' first.",
                    null);
        }
        try {
            return Uninterruptibly.await(
                    parts.transport().force(lock, seen.stored()),
                    parts.context().commandTimeout());
        } catch (SendFailure failure) {
            if (failure.kind() == SendFailure.Kind.UNANSWERED) {
                throw new OutcomeUnknownException(
                        "Lock '" + seen.name() + "' was to be taken from its holder, and it may have been or not: "
                                + failure.getMessage() + ". Look at it again; trying again is fine.",
                        null,
                        failure);
            }
            throw looking.exception(what, failure);
        }
    }

    /**
     * Tells which settings of the servers are unsafe for locks with these options, and what to do about each.
     *
     * <p><b>Guarantees:</b> for whatever {@link RedisLocks} would refuse these servers there is an {@code ERROR}. What this user
     * may not look at is an {@code INFO}.
     *
     * <p><b>Not guaranteed:</b> that another user may do what this one may: connect as the user of the program.
     *
     * @return what was found, the worst first; nothing where all is well
     */
    public List<Finding> doctor() {
        return new RedisDoctor(parts).findings();
    }

    /** Disconnects. Idempotent. */
    @Override
    public void close() {
        parts.close();
    }
}
