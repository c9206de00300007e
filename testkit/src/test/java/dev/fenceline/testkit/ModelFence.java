package dev.fenceline.testkit;

import dev.fenceline.FencingToken;
import dev.fenceline.LockName;
import dev.fenceline.StaleTokenException;
import dev.fenceline.TokenRejectedException;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.Optional;

/** Claim, then equality, in memory; and the ways in which others get it wrong. */
final class ModelFence implements FenceDriver {

    /** What is wrong with it. */
    enum Flaw {
        NONE,
        /** A lock and nothing else. */
        NO_CHECK,
        /** The folklore: a claim leaves no mark, and a write compares {@code >=}. */
        ORDER_ON_WRITES_ALONE,
        /** A write compares {@code >=} with the mark, although claims leave one. */
        WRITES_RAISE_THE_MARK,
        /** The holder is not compared. */
        NUMBERS_ALONE,
        /** Resuming is claiming. */
        RESUME_RAISES,
        /** A refused claim leaves its token as the mark. */
        REFUSAL_MOVES_THE_MARK,
        /** A claim is admitted once. */
        NOT_IDEMPOTENT,
        /** The value goes first, the check afterwards. */
        WRITES_BEFORE_CHECKING,
        /** No bound on tokens of the future. */
        NO_FUTURE_BOUND,
        /** A bound below what lock services may issue. */
        NARROW_FUTURE_BOUND,
        /** Any token is welcome. */
        ANY_LOCK,
        /** Both tokens in the error are ours. */
        ERROR_WITHOUT_THE_MARK
    }

    private final LockName lock;
    private final Flaw flaw;
    private Optional<FencingToken> mark = Optional.empty();
    private String value;

    ModelFence(LockName lock, String value, Flaw flaw) {
        this.lock = lock;
        this.value = value;
        this.flaw = flaw;
    }

    @Override
    public synchronized Session claim(FencingToken token) {
        check(token);
        boolean admitted =
                mark.map(m -> token.value() > m.value() || same(token, m)).orElse(true);
        if (flaw == Flaw.NOT_IDEMPOTENT && mark.filter(token::equals).isPresent()) {
            admitted = false;
        }
        if (!admitted && flaw != Flaw.NO_CHECK) {
            StaleTokenException refusal = stale("Claim", token);
            if (flaw == Flaw.REFUSAL_MOVES_THE_MARK) {
                mark = Optional.of(token);
            }
            throw refusal;
        }
        if (flaw != Flaw.ORDER_ON_WRITES_ALONE) {
            mark = Optional.of(token);
        }
        return new ModelSession(token);
    }

    @Override
    public synchronized Session resume(FencingToken token) {
        if (flaw == Flaw.RESUME_RAISES) {
            return claim(token);
        }
        check(token);
        enter("Resume", token);
        return new ModelSession(token);
    }

    @Override
    public synchronized String read() {
        return value;
    }

    private void check(FencingToken token) {
        if (flaw != Flaw.ANY_LOCK) {
            token.requireLock(lock);
        }
        Duration bound = Duration.ofHours(flaw == Flaw.NARROW_FUTURE_BOUND ? 1 : 25);
        Duration ahead =
                Duration.of(token.value(), ChronoUnit.MICROS).minus(Duration.between(Instant.EPOCH, Instant.now()));
        if (flaw != Flaw.NO_FUTURE_BOUND && ahead.compareTo(bound) > 0) {
            throw TokenRejectedException.farFuture("model", token, ahead, bound);
        }
    }

    /** Equality with the mark; anything else is stale, or was never claimed. */
    private void enter(String step, FencingToken token) {
        boolean passed = switch (flaw) {
            case NO_CHECK -> true;
            case ORDER_ON_WRITES_ALONE, WRITES_RAISE_THE_MARK ->
                mark.map(m -> token.value() >= m.value()).orElse(true);
            default -> mark.filter(m -> same(token, m)).isPresent();
        };
        if (!passed) {
            FencingToken newest = mark.orElseThrow(() -> TokenRejectedException.notClaimed("model", token, "empty"));
            if (newest.value() < token.value()) {
                throw TokenRejectedException.notClaimed("model", token, newest.toString());
            }
            throw stale(step, token);
        }
    }

    private boolean same(FencingToken one, FencingToken other) {
        return flaw == Flaw.NUMBERS_ALONE ? one.value() == other.value() : one.equals(other);
    }

    private StaleTokenException stale(String step, FencingToken token) {
        FencingToken newest = flaw == Flaw.ERROR_WITHOUT_THE_MARK ? token : mark.orElseThrow();
        return new StaleTokenException(step, "model '" + lock + "'", token, newest, null);
    }

    private final class ModelSession implements Session {

        private final FencingToken token;

        ModelSession(FencingToken token) {
            this.token = token;
        }

        @Override
        public String read() {
            synchronized (ModelFence.this) {
                return value;
            }
        }

        @Override
        public void write(String next) {
            synchronized (ModelFence.this) {
                if (flaw == Flaw.WRITES_BEFORE_CHECKING) {
                    value = next;
                }
                enter("Write", token);
                value = next;
                if (flaw == Flaw.ORDER_ON_WRITES_ALONE || flaw == Flaw.WRITES_RAISE_THE_MARK) {
                    mark = Optional.of(token);
                }
            }
        }
    }
}
