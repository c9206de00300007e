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

    private static final String[] NOTHING_SPECIAL = {};

    private final Network network;
    private final Route route;
    private final Subscription subscription;
    private final KeySpace keys;
    private final Notices notices;
    private final String leaseMillis;
    private final String who;
    private final LockOptions options;

    /** What scripts are told of our options, for whoever queues and for everybody else. Only the unusual ways read it. */
    private final String settings;

    private final String settingsToQueue;
    private final ReplicatedGrants grants;

    LettuceTransport(Network network, Route route, Context context) {
        this.network = network;
        this.route = route;
        this.subscription = new Subscription(network, route::listeningPlace, context);
        this.keys = context.keys();
        this.notices = context.notices();
        this.options = context.options();
        this.leaseMillis = Long.toString(options.lease().toMillis());
        this.who = LockValue.who(options.application());
        this.settings = String.join(
                "|",
                Long.toString(Math.min(options.lease().toMillis() / 2, LONGEST_ACCEPTANCE_MILLIS)),
                route.listeners().name(),
                micros(options.clockStepTolerance()),
                micros(options.masterClockSkew()),
                micros(options.restartDelay()),
                "");
        this.settingsToQueue = settings + channel();
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
        String[] all = lock.in(keys);
        String holder = LockValue.hex(request.holder());
        String[] special = special(request);
        boolean queues = request.patience() == Acquisition.Patience.QUEUES;
        return route.run(lock, link -> {
            String known = link.incarnation().last().words() + (queues ? settingsToQueue : settings);
            CompletableFuture<AcquireReply> answer = link.run(
                            Script.ACQUIRE, all, joined(holder, known, leaseMillis, who, special))
                    .thenApply(reply -> acquireReply(link, reply));
            return options.replicas() == 0 ? answer : answer.thenCompose(reply -> grants.confirmed(link, reply));
        });
    }

    /** What most requests go without: a script that is sent none of it takes its short way. */
    private String[] special(AcquireRequest request) {
        Predecessor predecessor = request.predecessor();
        String floor = Long.toString(request.floor());
        if (predecessor != null) {
            return new String[] {
                floor,
                LockValue.hex(predecessor.holder()),
                predecessor.passing().name()
            };
        }
        return request.floor() == 0 && options.restartDelay().isZero() ? NOTHING_SPECIAL : new String[] {floor};
    }

    private static String[] joined(String holder, String known, String lease, String who, String... special) {
        String[] all = new String[4 + special.length];
        all[0] = holder;
        all[1] = known;
        all[2] = lease;
        all[3] = who;
        System.arraycopy(special, 0, all, 4, special.length);
        return all;
    }

    @Override
    public CompletionStage<RenewReply> renew(LockKey lock, UUID holder) {
        String[] key = {lock.in(keys)[0]};
        return route.run(lock, link -> link.run(Script.RENEW, key, LockValue.hex(holder), leaseMillis))
                .thenApply(reply -> reply.number() == 1 ? RenewReply.RENEWED : RenewReply.REFUSED);
    }

    @Override
    public CompletionStage<ReleaseReply> release(LockKey lock, UUID holder, Duration keep) {
        String[] all = lock.in(keys);
        String me = LockValue.hex(holder);
        // Rounded up: it is a least time.
        long keepMillis = keep.plusNanos(999_999).toMillis();
        return route.run(lock, link -> {
            String known = link.incarnation().last().words() + settings;
            String[] arguments =
                    keepMillis == 0 ? new String[] {me, known} : new String[] {me, known, Long.toString(keepMillis)};
            return link.run(Script.RELEASE, all, arguments).thenApply(reply -> releaseReply(link, reply));
        });
    }

    /**
     * Takes a lock from whoever has it, as long as what lies there is what somebody saw.
     *
     * @param seen the whole value, which names the grant
     */
    CompletableFuture<ForcedRelease> force(LockKey lock, String seen) {
        return route.run(
                lock,
                link -> link.run(
                                Script.FORCE,
                                lock.in(keys),
                                seen,
                                link.incarnation().last().words() + settings)
                        .thenApply(reply -> {
                            if (!reply.isNumber() && reply.words().size() == 1) {
                                return reply.words().get(0).equals("free") ? ForcedRelease.FREE : ForcedRelease.CHANGED;
                            }
                            ReleaseReply unused = releaseReply(link, reply);
                            return ForcedRelease.RELEASED;
                        }));
    }

    /** The channel on which these locks are told that something has changed for them. */
    String channel() {
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

    private ReleaseReply releaseReply(Link over, Reply answer) {
        note(over, answer.words(), 2);
        long released = answer.isNumber() ? answer.number() : number(answer.words(), 0);
        return released == 1 ? ReleaseReply.RELEASED : ReleaseReply.ABSENT;
    }

    private AcquireReply acquireReply(Link over, Reply answer) {
        if (answer.isNumber()) {
            return new AcquireReply.Granted(answer.number());
        }
        List<String> reply = answer.words();
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
