package dev.fenceline.testkit;

import java.time.Duration;
import java.util.function.Consumer;
import java.util.function.Function;

/** One fault of a {@link FaultProxy}, from arming to its end. */
final class Fault implements FaultProxy.Armed {

    private enum State {
        ARMED,
        TAKEN,
        ENDED
    }

    /** Where on the way of a request the fault lies. */
    enum Place {
        /** Before the server gets the request. */
        REQUEST,
        /** At the first bytes that the server sends after it got the request. */
        REPLY
    }

    /** What happens to a connection, and where. */
    record Step(Place place, Consumer<Link> action) {}

    private final byte[] bytes;
    private final String marker;
    private final Step step;
    private final Gate fired = new Gate();
    private final Gate held = new Gate();
    private State state = State.ARMED;

    Fault(byte[] bytes, String marker, Function<Fault, Step> step) {
        this.bytes = bytes.clone();
        this.marker = marker;
        this.step = step.apply(this);
        fired.close();
        held.close();
    }

    Step step() {
        return step;
    }

    /** Takes the request if its bytes complete the marker and it is the first one. */
    synchronized boolean takes(byte[] window, int fresh, int length) {
        if (state != State.ARMED || !contains(window, fresh, length)) {
            return false;
        }
        state = State.TAKEN;
        return true;
    }

    /** A marker that ended before the fresh bytes belongs to a request that has been forwarded. */
    private boolean contains(byte[] window, int fresh, int length) {
        for (int start = Math.max(0, fresh - bytes.length + 1); start + bytes.length <= length; start++) {
            int matched = 0;
            while (matched < bytes.length && window[start + matched] == bytes[matched]) {
                matched++;
            }
            if (matched == bytes.length) {
                return true;
            }
        }
        return false;
    }

    synchronized boolean ended() {
        return state == State.ENDED;
    }

    void fire() {
        fired.open();
    }

    void awaitLetGo() {
        held.await();
    }

    void awaitLetGo(Duration limit) {
        held.await(limit);
    }

    @Override
    public void awaitFired(Duration limit) {
        if (!fired.await(limit)) {
            throw new IllegalStateException("The fault on a request with '" + marker + "' did not happen within "
                    + limit.toMillis() + " ms: " + reason());
        }
    }

    private synchronized String reason() {
        return switch (state) {
            case ARMED -> "no such request came. Is the text really on the wire, or a prepared name?";
            case TAKEN -> "the request came, but the server has not answered it.";
            case ENDED -> "it was let go before.";
        };
    }

    @Override
    public boolean fired() {
        return fired.await(Duration.ZERO);
    }

    @Override
    public synchronized void letGo() {
        state = State.ENDED;
        held.open();
    }
}
