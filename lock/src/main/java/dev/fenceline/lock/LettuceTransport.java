package dev.fenceline.lock;

import dev.fenceline.FencelineEvent;
import dev.fenceline.LockOptions;
import java.time.Duration;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;

/** Scripts, their arguments and their replies. Where they are sent is for the {@link Route} to say. */
final class LettuceTransport implements LockTransport {

    /** How long a lock is set aside for a waiter that was told: far above a round trip, and what a paused waiter costs. */
    private static final long LONGEST_ACCEPTANCE_MILLIS = 500;

    private static final int COMMON_ARGUMENTS = 10;

    private final Network network;
    private final Route route;
    private final Subscription subscription;
    private final KeySpace keys;
    private final Notices notices;
    private final String leaseMillis;
    private final String who;
    private final String tolerance;
    private final String skew;
    private final String restartDelay;
    private final String acceptance;
    private final String listeners;
    private final ReplicatedGrants grants;

    LettuceTransport(Network network, Route route, Context context) {
        this.network = network;
        this.route = route;
        this.subscription = new Subscription(network, route::listeningPlace, context);
        this.keys = context.keys();
        this.notices = context.notices();
        LockOptions options = context.options();
        this.leaseMillis = Long.toString(options.lease().toMillis());
        this.who = LockValue.who(options.application());
        this.tolerance = micros(options.clockStepTolerance());
        this.skew = micros(options.masterClockSkew());
        this.restartDelay = micros(options.restartDelay());
        this.acceptance = Long.toString(Math.min(options.lease().toMillis() / 2, LONGEST_ACCEPTANCE_MILLIS));
        this.listeners = route.listeners().name();
        this.grants = new ReplicatedGrants(options.replicas(), options.commandTimeout());
    }

    private static String micros(Duration duration) {
        return Long.toString(TimeUnit.NANOSECONDS.toMicros(duration.toNanos()));
    }

    /** Makes the first connections. Ends with what {@code RedisLocks.connect} throws. */
    CompletableFuture<Void> connect() {
        return route.connect(subscription);
    }

    @Override
    public String server() {
        return route.server();
    }

    @Override
    public CompletionStage<AcquireReply> acquire(LockKey lock, AcquireRequest request) {
        String[] all = keys.all(lock);
        Predecessor predecessor = request.predecessor();
        return route.run(
                lock,
                link -> link.run(
                                Script.ACQUIRE,
                                all,
                                arguments(
                                        link,
                                        request.holder(),
                                        request.floor(),
                                        leaseMillis,
                                        who,
                                        request.patience() == Acquisition.Patience.QUEUES ? channel() : "",
                                        predecessor == null ? "" : LockValue.hex(predecessor.holder()),
                                        predecessor == null
                                                ? ""
                                                : predecessor.passing().name()))
                        .thenApply(reply -> acquireReply(link, reply))
                        .thenCompose(reply -> grants.confirmed(link, reply)));
    }

    /** The arguments that acquire and release have in common, and then the others. */
    private String[] arguments(Link link, UUID holder, long floor, String... others) {
        Incarnations.Sighting sighting = link.incarnation().last();
        String[] all = new String[COMMON_ARGUMENTS + others.length];
        all[0] = LockValue.hex(holder);
        all[1] = acceptance;
        all[2] = listeners;
        all[3] = sighting.incarnation();
        all[4] = Long.toString(sighting.checked());
        all[5] = Long.toString(sighting.seen());
        all[6] = tolerance;
        all[7] = skew;
        all[8] = restartDelay;
        all[9] = Long.toString(floor);
        System.arraycopy(others, 0, all, COMMON_ARGUMENTS, others.length);
        return all;
    }

    @Override
    public CompletionStage<RenewReply> renew(LockKey lock, UUID holder) {
        String[] key = {keys.lock(lock)};
        return route.run(lock, link -> link.run(Script.RENEW, key, LockValue.hex(holder), leaseMillis))
                .thenApply(reply -> reply.get(0).equals("renewed") ? RenewReply.RENEWED : RenewReply.REFUSED);
    }

    @Override
    public CompletionStage<ReleaseReply> release(LockKey lock, UUID holder, Duration keep) {
        String[] all = keys.all(lock);
        // Rounded up: it is a least time.
        String keepMillis = Long.toString(keep.plusNanos(999_999).toMillis());
        return route.run(
                lock,
                link -> link.run(Script.RELEASE, all, arguments(link, holder, 0, keepMillis))
                        .thenApply(reply -> {
                            note(link, reply, 2);
                            return reply.get(0).equals("released") ? ReleaseReply.RELEASED : ReleaseReply.ABSENT;
                        }));
    }

    @Override
    public String channel() {
        return subscription.channel();
    }

    @Override
    public void listen(Hints hints) {
        subscription.listen(hints);
    }

    @Override
    public boolean listening() {
        return subscription.live();
    }

    @Override
    public void close(Duration limit) {
        network.close();
        network.shutDown(CompletableFuture.allOf(route.close(), subscription.close()), limit);
    }

    private AcquireReply acquireReply(Link over, List<String> reply) {
        String word = reply.get(0);
        return switch (word) {
            case "held" -> {
                note(over, reply, 4);
                yield new AcquireReply.Held(LockValue.parse(reply.get(1)), number(reply, 2));
            }
            case "granted" -> {
                note(over, reply, 3);
                yield new AcquireReply.Granted(number(reply, 1));
            }
            case "wait" -> {
                note(over, reply, 4);
                yield new AcquireReply.Wait(number(reply, 1), number(reply, 2), number(reply, 3));
            }
            case "reborn" -> {
                note(over, reply, 3);
                yield new AcquireReply.Reborn(number(reply, 1));
            }
            case "floor" -> {
                note(over, reply, 3);
                yield new AcquireReply.FloorTooFar(number(reply, 1), number(reply, 2));
            }
            case "exhausted" -> {
                note(over, reply, 3);
                yield new AcquireReply.Exhausted(number(reply, 1), number(reply, 2));
            }
            default ->
                throw new CompletionException(new SendFailure(
                        SendFailure.Kind.UNABLE,
                        over.server() + " answered with the unknown word '" + word + "'",
                        null));
        };
    }

    private static long number(List<String> reply, int index) {
        return Long.parseLong(reply.get(index));
    }

    /** Where a reply names the incarnation, the server time stands before it. */
    private void note(Link over, List<String> reply, int index) {
        if (reply.size() > index) {
            over.incarnation()
                    .note(reply.get(index), number(reply, index - 1))
                    .ifPresent(changed -> notices.tell(new FencelineEvent.IncarnationChanged(over.server(), changed)));
        }
    }
}
