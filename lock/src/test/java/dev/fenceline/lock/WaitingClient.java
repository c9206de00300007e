package dev.fenceline.lock;

import static dev.fenceline.lock.Fixture.answer;
import static dev.fenceline.lock.Fixture.eventually;

import dev.fenceline.LockOptions;
import dev.fenceline.lock.LockTransport.AcquireReply;
import dev.fenceline.lock.LockTransport.AcquireRequest;
import dev.fenceline.lock.LockTransport.ReleaseReply;
import dev.fenceline.testkit.RedisServer;
import java.time.Duration;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CopyOnWriteArrayList;

/**
 * One waiter of one client, step by step: it sends what a test tells it to, over a transport and a subscription of its own, and
 * keeps what it hears.
 */
final class WaitingClient implements AutoCloseable, LockTransport.Hints {

    private final Fixture.Wire wire;
    private final LockKey lock;
    private final UUID holder = UUID.randomUUID();
    private final List<String> heard = new CopyOnWriteArrayList<>();

    WaitingClient(RedisServer redis, LockOptions options, LockKey lock) {
        this(new Fixture.Wire(redis, options), lock);
    }

    WaitingClient(Fixture.Wire wire, LockKey lock) {
        this.wire = wire;
        this.lock = lock;
        wire.transport().listen(this);
    }

    UUID holder() {
        return holder;
    }

    Fixture.Wire wire() {
        return wire;
    }

    /** Acquires, polls or accepts, which is the same. */
    AcquireReply ask() throws SendFailure {
        return ask(0);
    }

    AcquireReply ask(long floor) throws SendFailure {
        return answer(
                wire.transport().acquire(lock, new AcquireRequest(holder, floor, Acquisition.Patience.QUEUES, null)));
    }

    /** Asks in the place of another holder of the same client, whose lock may pass to this one. */
    AcquireReply succeed(WaitingClient predecessor, LockTransport.Passing passing) throws SendFailure {
        return answer(wire.transport()
                .acquire(
                        lock,
                        new AcquireRequest(
                                holder,
                                0,
                                Acquisition.Patience.QUEUES,
                                new LockTransport.Predecessor(predecessor.holder, passing))));
    }

    ReleaseReply release() throws SendFailure {
        return answer(wire.transport().release(lock, holder, Duration.ZERO));
    }

    void awaitOffer() {
        eventually("an offer is heard", () -> heard.contains(offer()));
    }

    boolean wasOffered() {
        return heard.contains(offer());
    }

    boolean wasToldToWatch() {
        return timesToldToWatch() > 0;
    }

    /** The milliseconds in the first message that said so. */
    long toldToWatchFor() {
        String watch = "watch|" + LockValue.hex(holder) + "|";
        return heard.stream()
                .filter(message -> message.startsWith(watch))
                .mapToLong(message -> Long.parseLong(message.substring(watch.length())))
                .findFirst()
                .orElseThrow(() -> new AssertionError("not told to watch, but heard " + heard));
    }

    long timesToldToWatch() {
        return heard.stream()
                .filter(message -> message.startsWith("watch|" + LockValue.hex(holder) + "|"))
                .count();
    }

    private String offer() {
        return "offer|" + LockValue.hex(holder);
    }

    @Override
    public void heard(String message) {
        heard.add(message);
    }

    @Override
    public void subscribed() {}

    /** Ends without a word, as a process does that is killed. */
    @Override
    public void close() {
        wire.close();
    }
}
