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

    private final Network network;
    private final Route route;
    private final Subscription subscription;
    private final KeySpace keys;
    private final Notices notices;
    private final String leaseMillis;
    private final String who;
    private final String tolerance;
    private final String skew;

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
    public CompletionStage<AcquireReply> acquire(LockKey lock, UUID holder, long floor) {
        String me = LockValue.hex(holder);
        if (lock.kind() == LockKind.EFFICIENCY) {
            String[] key = {keys.lock(lock)};
            return route.run(
                    lock,
                    link -> link.run(Script.ACQUIRE, key, me, leaseMillis, who)
                            .thenApply(reply -> acquireReply(link, reply)));
        }
        String[] all = {keys.lock(lock), keys.counter(lock), keys.boot(lock), keys.floor(lock)};
        return route.run(lock, link -> {
            Incarnations.Sighting sighting = link.incarnation().last();
            return link.run(
                            Script.ACQUIRE,
                            all,
                            me,
                            leaseMillis,
                            who,
                            sighting.incarnation(),
                            Long.toString(sighting.checked()),
                            Long.toString(sighting.seen()),
                            tolerance,
                            skew,
                            Long.toString(floor))
                    .thenApply(reply -> acquireReply(link, reply));
        });
    }

    @Override
    public CompletionStage<RenewReply> renew(LockKey lock, UUID holder) {
        String[] key = {keys.lock(lock)};
        return route.run(lock, link -> link.run(Script.RENEW, key, LockValue.hex(holder), leaseMillis))
                .thenApply(reply -> reply.get(0).equals("renewed") ? RenewReply.RENEWED : RenewReply.REFUSED);
    }

    @Override
    public CompletionStage<ReleaseReply> release(LockKey lock, UUID holder) {
        String[] key = {keys.lock(lock)};
        return route.run(lock, link -> link.run(Script.RELEASE, key, LockValue.hex(holder)))
                .thenApply(reply -> reply.get(0).equals("released") ? ReleaseReply.RELEASED : ReleaseReply.ABSENT);
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
            case "held" -> new AcquireReply.Held(LockValue.parse(reply.get(1)), number(reply, 2));
            case "granted" -> {
                note(over, reply, 3);
                yield new AcquireReply.Granted(number(reply, 1));
            }
            case "wait" -> {
                note(over, reply, 4);
                yield new AcquireReply.Wait(number(reply, 1), number(reply, 2), number(reply, 3));
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
