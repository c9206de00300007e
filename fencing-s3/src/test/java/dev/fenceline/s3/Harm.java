package dev.fenceline.s3;

import dev.fenceline.testkit.FaultProxy;
import dev.fenceline.testkit.S3FaultProxy;
import dev.fenceline.testkit.S3FaultProxy.OnRequest;
import java.util.function.BiFunction;

/** What can happen to a request on its way to a store and back. */
enum Harm {
    DROPPED("request lost", OnRequest::dropRequest),
    UNHEARD("answer lost", OnRequest::loseAnswer),
    DELAYED("request delayed past the verdict", (request, cut) -> request.holdRequest()),
    LATE("answer delayed past the timeout", (request, cut) -> request.holdAnswer()),
    CONFLICT("409, not done", (request, cut) -> request.answerInstead(409, "ConditionalRequestConflict")),
    FAILED("500, not done", (request, cut) -> request.answerInstead(500, "InternalError")),
    FAILED_AFTERWARDS("500, done", (request, cut) -> request.answerAfterwards(500, "InternalError")),
    REFUSED_AFTERWARDS("412, done", (request, cut) -> request.answerAfterwards(412, "PreconditionFailed"));

    private final String words;

    @SuppressWarnings("ImmutableEnumChecker") // the functions capture nothing
    private final BiFunction<OnRequest, FaultProxy.Cut, S3FaultProxy.Armed> harm;

    Harm(String words, BiFunction<OnRequest, FaultProxy.Cut, S3FaultProxy.Armed> harm) {
        this.words = words;
        this.harm = harm;
    }

    /** Once, or each time; a connection ends in an orderly way if once, by a reset if each time. */
    S3FaultProxy.Armed on(OnRequest request, FaultCase.Times times) {
        return times == FaultCase.Times.ONCE
                ? harm.apply(request, FaultProxy.Cut.FIN)
                : harm.apply(request.each(), FaultProxy.Cut.RST);
    }

    /** Whether the store carries out what its client does not hear of, sooner or later. */
    boolean isAnswered() {
        return this != DROPPED && this != CONFLICT && this != FAILED;
    }

    /** Whether the client waits until its time is over. */
    boolean isSlow() {
        return this == DELAYED || this == LATE;
    }

    @Override
    public String toString() {
        return words;
    }
}
