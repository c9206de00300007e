package dev.fenceline.s3;

import dev.fenceline.BackendUnavailableException;
import dev.fenceline.FencingToken;
import dev.fenceline.LockName;
import dev.fenceline.OutcomeUnknownException;
import dev.fenceline.OutcomeUnknownException.Resolution;
import dev.fenceline.RetryableConflictException;
import dev.fenceline.testkit.S3FaultProxy;
import dev.fenceline.testkit.S3FaultProxy.OnRequest;
import dev.fenceline.testkit.S3History;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.Optional;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * One fault at one step, once or each time, and what became of what was asked for. When the verdict is there, everything that was held is let
 * go, and a newer holder claims and writes; only then the object's history is read.
 *
 * @param step where
 * @param harm what
 * @param times how often
 */
record FaultCase(FaultStep step, Harm harm, Times times) {

    private static final Duration LIMIT = Duration.ofSeconds(60);
    private static final int TRIES = 5;
    private static final LockName LOCK = LockName.of("fault-table");
    private static final String BEFORE = "what stood there";
    private static final String OURS = "what is written through the fault";
    private static final String NEWER = "what a newer holder writes";

    /** A part, and a little more. */
    private static final String OURS_IN_PARTS = "x".repeat(FaultStore.PART) + OURS;

    /** How often the fault happens. */
    enum Times {
        ONCE("once"),
        EACH("each time");

        private final String words;

        Times(String words) {
            this.words = words;
        }

        @Override
        public String toString() {
            return words;
        }
    }

    /** What the caller is told. */
    enum Told {
        APPLIED("applied"),
        NOT_DONE("not done"),
        UNKNOWN("unknown");

        private final String words;

        Told(String words) {
            this.words = words;
        }

        @Override
        public String toString() {
            return words;
        }
    }

    /**
     * How it ended.
     *
     * @param told what the caller was told
     * @param resolved what asking again said, once all faults had ended
     * @param times how often what was asked for is in the history of the object
     * @param versions of the object, the oldest first
     */
    record Ending(Told told, Optional<Resolution> resolved, long times, List<Written> versions) {}

    /** Whether it mostly waits: for timeouts, or for the end of what may be tried against a fault that happens each time. */
    boolean waits() {
        return step.isSlow() || harm.isSlow() || times == Times.EACH;
    }

    /** Whether it waits for a timeout each time. */
    boolean waitsLongest() {
        return harm.isSlow() && times == Times.EACH;
    }

    /** Runs until the fault has happened: on a machine that is very slow a session may give up before it comes to this step. */
    Ending run(FaultStore store) {
        for (int i = 1; i < TRIES; i++) {
            Optional<Ending> ending = attempt(store);
            if (ending.isPresent()) {
                return ending.get();
            }
        }
        return attempt(store)
                .orElseThrow(
                        () -> new AssertionError("The fault of '" + this + "' did not happen, " + TRIES + " times."));
    }

    private Optional<Ending> attempt(FaultStore store) {
        String key = (UUID.randomUUID() + "/" + step.name() + "/" + harm.name() + "/" + times.name())
                .toLowerCase(Locale.ROOT);
        S3History history = store.watch(key);
        ObjectFence<?> near = store.near(step.format());
        ObjectFence<?> far = isInParts() ? store.inPartsBehindTheProxy() : store.behindTheProxy(step.format());
        long now = ChronoUnit.MICROS.between(Instant.EPOCH, Instant.now());
        FencingToken older = token(now);
        FencingToken ours = token(now + 1);
        if (step.operation() != FaultStep.Operation.CREATE) {
            near.claim(older, key).write(BEFORE.getBytes(StandardCharsets.UTF_8));
        }
        if (step.operation() == FaultStep.Operation.RESUME) {
            near.claim(ours, key);
        }
        ObjectClaim claim = step.operation().needsClaim() ? far.claim(ours, key) : null;

        S3FaultProxy proxy = store.proxy();
        Optional<S3FaultProxy.Armed> before = step.armEarlier(proxy, key);
        OnRequest request = step.request(proxy, key);
        S3FaultProxy.Armed fault = harm.on(request, times);
        Optional<OutcomeUnknownException> unknown = Optional.empty();
        Told told;
        try {
            ask(far, claim, ours, key);
            told = Told.APPLIED;
        } catch (BackendUnavailableException | RetryableConflictException e) {
            told = Told.NOT_DONE;
        } catch (OutcomeUnknownException e) {
            told = Told.UNKNOWN;
            unknown = Optional.of(e);
        }
        boolean happened = fault.fired();
        letGo(before, fault);
        if (!happened) {
            return Optional.empty();
        }
        Optional<Resolution> resolved =
                unknown.filter(OutcomeUnknownException::resolvable).map(OutcomeUnknownException::resolve);
        near.claim(token(now + 2), key).write(NEWER.getBytes(StandardCharsets.UTF_8));
        List<Written> versions = history.bodies().stream()
                .map(bytes -> Written.of(step.format(), bytes))
                .toList();
        return Optional.of(new Ending(told, resolved, times(versions, ours), versions));
    }

    private void ask(ObjectFence<?> fence, @Nullable ObjectClaim claim, FencingToken token, String key) {
        switch (step.operation()) {
            case CREATE, CLAIM -> fence.claim(token, key);
            case RESUME -> fence.resume(token, key);
            case READ -> requireBefore(fence.read(key).orElseThrow().text());
            case WRITE, WRITE_PARTS -> Objects.requireNonNull(claim).write(ours().getBytes(StandardCharsets.UTF_8));
            case DELETE -> Objects.requireNonNull(claim).delete();
        }
    }

    private static void requireBefore(String read) {
        if (!read.equals(BEFORE)) {
            throw new AssertionError("There stands '" + BEFORE + "', and '" + read + "' was read.");
        }
    }

    private String ours() {
        return isInParts() ? OURS_IN_PARTS : OURS;
    }

    private boolean isInParts() {
        return step.operation() == FaultStep.Operation.WRITE_PARTS;
    }

    /** What was held reaches the store now, after the verdict. */
    private void letGo(Optional<S3FaultProxy.Armed> before, S3FaultProxy.Armed fault) {
        before.ifPresent(S3FaultProxy.Armed::letGo);
        fault.letGo();
        before.filter(armed -> step.isEarlierAnswered()).ifPresent(armed -> armed.awaitAnswer(LIMIT));
        if (fault.fired() && harm.isAnswered()) {
            fault.awaitAnswer(LIMIT);
        }
    }

    private static FencingToken token(long value) {
        return new FencingToken(LOCK, value, UUID.randomUUID());
    }

    /** How often the very write, or the claim, is there: rewriting it as it is has another id. */
    private long times(List<Written> all, FencingToken ours) {
        List<UUID> asked = new ArrayList<>();
        boolean was = false;
        for (Written written : all) {
            boolean is = isAsked(written, ours);
            if (is && (!was || asked.contains(written.writeId()))) {
                asked.add(written.writeId());
            }
            was = is;
        }
        return asked.size();
    }

    private boolean isAsked(Written written, FencingToken ours) {
        return switch (step.operation()) {
            case CREATE, CLAIM -> written.token().equals(ours);
            case RESUME, READ -> false;
            case WRITE, WRITE_PARTS -> written.content().equals(Written.content(step.format(), ours()));
            case DELETE -> written.content().isEmpty() && written.token().equals(ours);
        };
    }

    @Override
    public String toString() {
        return step + ", " + harm + " " + times;
    }
}
