package dev.fenceline.lock;

import dev.fenceline.BackendMisconfiguredException;
import dev.fenceline.FencelineEvent;
import dev.fenceline.lock.LockTransport.ReleaseReply;
import dev.fenceline.lock.LockTransport.RenewReply;
import io.lettuce.core.RedisURI;
import java.util.List;
import java.util.OptionalLong;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLongArray;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * One of the independent masters of Redlock: its connection, what was heard of its clock and counters, and the releases that it
 * still has to hear. A connection is used once its server is known to be none of the other nodes.
 */
final class RedlockNode {

    /** Tells the servers of one deployment apart. */
    interface Register {
        /** Notes the process behind a node; returns the node that has the same one, or null. */
        @Nullable RedlockNode enter(RedlockNode node, String runId);
    }

    /** A look reads no counter. */
    private static final String NO_COUNTER = "none";

    private final String name;
    private final Context context;
    private final NodeScripts scripts;
    private final Register register;
    private final Proposed proposed;
    private final String[] nodeKey;
    private final String leaseMillis;
    private final String who;
    private final String tolerance;
    private final String settings;
    private final String delay;
    private final ServerConnection connection;
    private final NodeClock clock = new NodeClock();
    private final AtomicLongArray counters = new AtomicLongArray(KeySpace.BUCKETS);
    private final NodeReleases releases;
    private final CompletableFuture<Void> firstLook = new CompletableFuture<>();

    private volatile @Nullable Link admitted;

    RedlockNode(
            Network network, RedisURI uri, Context context, NodeScripts scripts, Register register, Proposed proposed) {
        this.name = "Redis at " + Uris.address(uri);
        this.context = context;
        this.scripts = scripts;
        this.register = register;
        this.proposed = proposed;
        this.nodeKey = new String[] {context.keys().node()};
        this.leaseMillis = Long.toString(context.options().lease().toMillis());
        this.who = LockValue.who(context.options().application());
        this.tolerance = micros(context.options().clockStepTolerance().toNanos());
        this.settings =
                tolerance + "|" + micros(context.options().masterClockSkew().toNanos());
        this.delay = micros(context.options().restartDelay().toNanos());
        this.releases = new NodeReleases(context, this::released, this::isAdmitted);
        ServerConnection.Place place = new ServerConnection.Place(uri, name);
        this.connection = new ServerConnection(
                network,
                limit -> CompletableFuture.completedFuture(place),
                name,
                at -> ServerCheck.standalone(at.name(), context.options()),
                new Incarnations(context.knowledge(Incarnations.Knowledge.SEEN_AND_CHECKED)),
                context,
                this::look);
    }

    private static String micros(long nanos) {
        return Long.toString(TimeUnit.NANOSECONDS.toMicros(nanos));
    }

    /** Names it in messages, without credentials. */
    String name() {
        return name;
    }

    /** Connects, and goes on doing so for as long as it takes. Ends when the node can be used, or with why it cannot yet. */
    CompletableFuture<Void> connect() {
        return connection.connectForGood().thenCompose(done -> firstLook);
    }

    private void look(Link link) {
        var unused = link.run(scripts.look(), nodeKey, Incarnations.Sighting.NONE.words() + settings, delay, NO_COUNTER)
                .thenAccept(reply -> admit(link, reply.words()))
                .whenComplete((done, thrown) -> {
                    if (thrown != null) {
                        Throwable why = why(Link.unwrapped(thrown));
                        firstLook.completeExceptionally(why);
                        connection.giveUp(link, String.valueOf(why.getMessage()));
                    } else {
                        firstLook.complete(null);
                    }
                });
    }

    private Throwable why(Throwable thrown) {
        if (thrown instanceof SendFailure failure && failure.kind() == SendFailure.Kind.FORBIDDEN) {
            String said = String.valueOf(failure.getMessage());
            String grant = Grants.needed(context.keys(), said, Grants.command(said, "hmget"));
            return Grants.missing(name, Set.of(grant), failure);
        }
        return thrown;
    }

    private void admit(Link link, List<String> words) {
        long time = Long.parseLong(words.get(0));
        String incarnation = words.get(1);
        String runId = incarnation.substring(0, incarnation.indexOf('|'));
        RedlockNode same = register.enter(this, runId);
        if (same != null) {
            throw new BackendMisconfiguredException(
                    name + " and " + same.name() + " are one server (run_id " + runId
                            + "), and would have two votes of "
                            + "what has to be independent. Name each server once, by one address.",
                    null);
        }
        note(link, incarnation, time);
        clock.saw(time, context.clock().nanoTime());
        admitted = link;
        releases.sendAgain();
    }

    /** Whether it is connected and known. */
    boolean isAdmitted() {
        Link link = admitted;
        return link != null && connection.link().filter(link::equals).isPresent();
    }

    /** What its clock shows now; empty as long as it never answered. */
    OptionalLong clock(long nanoTime) {
        return clock.micros(nanoTime);
    }

    /** The counter of a bucket as last heard of, or 0. */
    long counter(int bucket) {
        return counters.get(bucket);
    }

    CompletableFuture<NodeReply> acquire(LockKey lock, RedlockAttempt.Request request, long token) {
        NodeReleases.Request underWay = releases.asking(request.holder(), token);
        if (request.predecessor() != null) {
            releases.succeeded(lock, request.predecessor());
        }
        int bucket = context.keys().bucketOf(lock);
        String[] all = lock.in(context.keys());
        String[] keys = lock.kind() == LockKind.FENCED
                ? new String[] {nodeKey[0], all[0], all[5]}
                : new String[] {nodeKey[0], all[0]};
        return run(link -> link.run(
                                scripts.acquire(),
                                keys,
                                link.incarnation().last().words() + settings,
                                delay,
                                Integer.toString(bucket),
                                LockValue.hex(request.holder()),
                                leaseMillis,
                                who,
                                Long.toString(token),
                                tolerance,
                                Long.toString(request.floor()),
                                request.predecessor() == null ? "" : LockValue.hex(request.predecessor()))
                        .thenApply(reply -> heard(link, lock, bucket, reply)))
                .whenComplete((reply, thrown) -> underWay.over(end(reply, thrown)));
    }

    private static NodeReleases.End end(@Nullable NodeReply reply, @Nullable Throwable thrown) {
        if (reply != null && reply.word() == NodeReply.Word.GRANTED) {
            return NodeReleases.End.GRANTED;
        }
        return thrown != null && SendFailure.of(thrown).kind() == SendFailure.Kind.UNANSWERED
                ? NodeReleases.End.LOST
                : NodeReleases.End.NOT_GRANTED;
    }

    private NodeReply heard(Link link, LockKey lock, int bucket, Reply answer) {
        NodeReply reply;
        try {
            reply = NodeReply.of(answer.words());
        } catch (IllegalArgumentException | IndexOutOfBoundsException e) {
            throw new CompletionException(
                    new SendFailure(SendFailure.Kind.UNABLE, name + " answered with what is no reply of ours", e));
        }
        String incarnation = answer.words().get(NodeReply.INCARNATION);
        if (!incarnation.isEmpty()) {
            note(link, incarnation, reply.time());
        }
        clock.saw(reply.time(), context.clock().nanoTime());
        if (lock.kind() == LockKind.FENCED) {
            counters.set(bucket, reply.counter());
            proposed.note(lock.name(), reply.mark(), reply.time());
        }
        return reply;
    }

    private void note(Link link, String incarnation, long time) {
        link.incarnation()
                .note(incarnation, time)
                .ifPresent(changed -> context.notices().tell(new FencelineEvent.IncarnationChanged(name, changed)));
    }

    CompletableFuture<RenewReply> renew(LockKey lock, UUID holder) {
        String[] key = {lock.in(context.keys())[0]};
        return run(link -> link.run(scripts.renew(), key, LockValue.hex(holder), leaseMillis))
                .thenApply(reply -> reply.number() == 1 ? RenewReply.RENEWED : RenewReply.REFUSED);
    }

    /**
     * Releases a holder now, and when the node can be reached again.
     *
     * @param newest not what this holder was granted by a later attempt
     * @param freeAt from when on the lock may be free, by the monotonic clock
     */
    CompletableFuture<ReleaseReply> release(LockKey lock, UUID holder, long newest, long freeAt) {
        return releases.send(lock, holder, newest, freeAt);
    }

    private CompletableFuture<ReleaseReply> released(NodeReleases.Due due) {
        String[] key = {due.lock().in(context.keys())[0]};
        String newest = due.newest() == Long.MAX_VALUE ? "" : Long.toString(due.newest());
        String keep = Long.toString(due.keepMillis(context.clock().nanoTime()));
        return run(link -> link.run(scripts.release(), key, LockValue.hex(due.holder()), newest, keep))
                .thenApply(reply -> reply.number() == 1 ? ReleaseReply.RELEASED : ReleaseReply.ABSENT);
    }

    private <T> CompletableFuture<T> run(Function<Link, CompletableFuture<T>> request) {
        return connection.run(link -> link.equals(admitted)
                ? request.apply(link)
                : CompletableFuture.failedFuture(new SendFailure(
                        SendFailure.Kind.UNREACHABLE, name + " was just connected and is being looked at", null)));
    }

    CompletableFuture<Void> close() {
        return connection.close();
    }
}
