package dev.fenceline.examples.checker;

import dev.fenceline.BackendUnavailableException;
import dev.fenceline.FencelineException;
import dev.fenceline.OutcomeUnknownException;
import dev.fenceline.RetryableConflictException;
import dev.fenceline.StaleTokenException;
import dev.fenceline.TokenRejectedException;

/** What a caller hears of each refusal: whether it happened, and what to do now. The messages of Fenceline say both. */
final class Refusal {

    private Refusal() {}

    static Answer answer(FencelineException e) {
        if (e instanceof StaleTokenException) {
            return Answer.of(409, "stale: " + e.getMessage()); // names both tokens
        }
        if (e instanceof TokenRejectedException rejected) {
            boolean mayBegin = rejected.reason() == TokenRejectedException.Reason.NOT_CLAIMED; // by a GET
            return Answer.of(mayBegin ? 409 : 403, "rejected: " + e.getMessage());
        }
        if (e instanceof RetryableConflictException || e instanceof BackendUnavailableException) {
            return Answer.of(503, "try again: " + e.getMessage()).header("Retry-After", "1"); // nothing happened
        }
        if (e instanceof OutcomeUnknownException) {
            return Answer.of(500, "unknown, it may have happened: " + e.getMessage());
        }
        return Answer.of(500, "refused: " + e.getMessage()); // a fault of this service or its set-up
    }
}
