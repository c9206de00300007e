package dev.fenceline.testkit;

import java.io.IOException;
import java.time.Duration;
import java.util.function.Predicate;

/** One fault of a {@link S3FaultProxy}, from arming to its end. */
final class S3Fault implements S3FaultProxy.Armed {

    /** What happens to a request instead of going to the server and back. */
    interface Step {
        void carryOut(S3Exchange exchange, S3Fault fault) throws IOException;
    }

    private final Predicate<S3Request> met;
    private final String description;
    private final int first;
    private final int last;
    private final Step step;
    private final Gate fired = new Gate();
    private final Gate held = new Gate();
    private int seen;
    private int taken;
    private int answered;
    private boolean ended;
    private int status;

    /** Takes the first to the last of the requests that are met, counted from one. */
    S3Fault(Predicate<S3Request> met, String description, int first, int last, Step step) {
        this.met = met;
        this.description = description;
        this.first = first;
        this.last = last;
        this.step = step;
        fired.close();
        held.close();
    }

    synchronized boolean takes(S3Request request) {
        if (ended || !met.test(request)) {
            return false;
        }
        seen++;
        if (seen < first || seen > last) {
            return false;
        }
        taken++;
        return true;
    }

    void carryOut(S3Exchange exchange) throws IOException {
        step.carryOut(exchange, this);
    }

    void fire() {
        fired.open();
    }

    void awaitLetGo() {
        held.await();
    }

    synchronized void answered(int answer) {
        status = answer;
        answered++;
        notifyAll();
    }

    @Override
    public void awaitFired(Duration limit) {
        if (!fired.await(limit)) {
            throw new IllegalStateException("The fault on " + description + " did not happen within " + limit.toMillis()
                    + " ms: " + seen() + " such requests came.");
        }
    }

    private synchronized int seen() {
        return seen;
    }

    @Override
    public boolean fired() {
        return fired.await(Duration.ZERO);
    }

    @Override
    public synchronized int awaitAnswer(Duration limit) {
        long deadline = System.nanoTime() + limit.toNanos();
        try {
            for (long left = limit.toNanos(); isOwedAnAnswer() && left > 0; left = deadline - System.nanoTime()) {
                // At least 1 ms: zero would wait for ever.
                wait(left / 1_000_000 + 1);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        if (isOwedAnAnswer()) {
            throw new IllegalStateException("The server has not answered to " + description + " within "
                    + limit.toMillis() + " ms: of " + seen + " such requests the fault took " + taken + ", and "
                    + answered + " were answered. Is it still held?");
        }
        return status;
    }

    private boolean isOwedAnAnswer() {
        return taken == 0 || answered < taken;
    }

    @Override
    public void letGo() {
        synchronized (this) {
            ended = true;
        }
        held.open();
    }
}
