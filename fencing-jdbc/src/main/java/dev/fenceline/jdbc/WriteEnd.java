package dev.fenceline.jdbc;

import dev.fenceline.FencelineEvent.WriteEnded;
import dev.fenceline.FencelineEvent.WriteOutcome;
import dev.fenceline.FencelineException;
import dev.fenceline.FencingToken;
import dev.fenceline.OutcomeUnknownException;
import dev.fenceline.RetryableConflictException;
import dev.fenceline.StaleTokenException;
import java.time.Duration;

/** How a transaction or a statement under the marks of several locks ended, and who hears of it. */
final class WriteEnd {

    private WriteEnd() {}

    static WriteOutcome outcome(FencelineException e) {
        if (e instanceof StaleTokenException) {
            return WriteOutcome.STALE;
        }
        if (e instanceof RetryableConflictException) {
            return WriteOutcome.RETRYABLE;
        }
        return e instanceof OutcomeUnknownException ? WriteOutcome.UNKNOWN : WriteOutcome.ROLLED_BACK;
    }

    /** Tells of each lock by itself. */
    static void tell(FenceSettings settings, Tokens tokens, WriteOutcome outcome, long begunNanos) {
        Duration took = Duration.ofNanos(System.nanoTime() - begunNanos);
        for (FencingToken token : tokens.all()) {
            settings.listener().tell(new WriteEnded(Refusals.resource(token.lock()), token, outcome, took));
        }
    }
}
