package dev.fenceline.s3;

import dev.fenceline.BackendMisconfiguredException;
import dev.fenceline.BackendUnavailableException;
import dev.fenceline.FencingToken;
import dev.fenceline.OutcomeUnknownException;
import dev.fenceline.RetryableConflictException;
import dev.fenceline.TokenRejectedException;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** What is said when something was not done. */
final class Refusals {

    private Refusals() {}

    /** The store will go on saying so until somebody changes a setting. */
    static BackendMisconfiguredException setting(String step, String resource, RuntimeException failure) {
        return new BackendMisconfiguredException(
                step + " on " + resource + " refused by the store: " + Failures.text(failure)
                        + ". Nothing of it happened. " + Remedies.of(failure),
                failure);
    }

    /** What is certain not to have been sent by a client that was closed is refused; anything else comes back as it is. */
    static RuntimeException orClosed(String step, String resource, RuntimeException failure) {
        return Failures.isClosed(failure) ? closed(step, resource, failure) : failure;
    }

    static BackendMisconfiguredException closed(String step, String resource, RuntimeException failure) {
        return new BackendMisconfiguredException(
                step + " on " + resource + " refused: " + Failures.text(failure) + ". Nothing of it happened.",
                failure);
    }

    static BackendUnavailableException unanswered(String step, String resource, String what, RuntimeException failure) {
        return new BackendUnavailableException(
                step + " on " + resource + " failed: " + Failures.text(failure) + ". " + what, failure);
    }

    /** It is settled that the write did not happen and never will. */
    static BackendUnavailableException notDone(
            String step, String resource, FencingToken mark, @Nullable RuntimeException failure) {
        return new BackendUnavailableException(
                step + " on " + resource + " was not done"
                        + Optional.ofNullable(failure)
                                .map(cause -> ": " + Failures.text(cause))
                                .orElse("")
                        + ". It cannot happen later either, as the object was rewritten since. The mark is still "
                        + mark
                        + ", so the claim is good: try again under it.",
                failure);
    }

    static RetryableConflictException overtakenByOwnClaim(
            String step, String resource, FencingToken token, @Nullable RuntimeException failure) {
        return new RetryableConflictException(
                step + " on " + resource + " refused: another session of the same claim, token " + token
                        + ", has written since this one last looked. Nothing happened, and the claim is still good: read again, then"
                        + " write.",
                failure);
    }

    static RetryableConflictException afterUnknown(String step, String resource, FencingToken token) {
        return new RetryableConflictException(
                step + " on " + resource + " refused: what became of an earlier write of this claim, token " + token
                        + ", was not known, so it has not been seen what this one would replace. Nothing happened, and the claim is"
                        + " still good: read, or resolve() that write, then write.",
                null);
    }

    static RetryableConflictException lostRaces(String resource, FencingToken token, int races) {
        return new RetryableConflictException(
                "Claim of token " + token + " on " + resource + " lost " + races
                        + " races in a row: older holders keep writing. Nothing happened. While the lease runs, claim again with the"
                        + " same token.",
                null);
    }

    static OutcomeUnknownException unknown(
            String step,
            String resource,
            String why,
            OutcomeUnknownException.@Nullable Resolver resolver,
            @Nullable RuntimeException failure) {
        return new OutcomeUnknownException(
                step + " on " + resource + " may have happened or not: " + why + ". "
                        + (resolver == null
                                ? "Read the object, and compare, before doing the work again."
                                : "resolve() goes on asking; else read the object before doing the work again."),
                resolver,
                failure);
    }

    static TokenRejectedException notClaimed(String resource, FencingToken token, Optional<FencingToken> mark) {
        return TokenRejectedException.notClaimed(
                resource,
                token,
                mark.map(FencingToken::toString).orElse("missing, as is the object"),
                "an object or a store that was removed or restored");
    }

    /** The other format is that of the object, if it has one. */
    static BackendMisconfiguredException foreign(
            String resource, S3Format expected, Optional<S3Format> other, IllegalArgumentException why) {
        return new BackendMisconfiguredException(
                "Use of " + resource + " as a fenced object of the format '" + expected.word() + "' refused: "
                        + why.getMessage() + ". Nothing was written. Move that object away, or name another key"
                        + other.map(format -> "; a key of the format '" + format.word() + "' is for S3Fence."
                                        + format.word() + "()")
                                .orElse("")
                        + ".",
                why);
    }

    /** Read twice and found the same: data is never written a second time, so somebody else has done it. */
    static BackendMisconfiguredException altered(String resource, String folder, Altered found) {
        return new BackendMisconfiguredException(
                "Read on " + resource + " refused: it came twice with " + found.found() + ", and was written with "
                        + found.written()
                        + ". Something else wrote it, past the fence. Restore the version that was written,"
                        + " or write the data anew under a claim, and keep the right to write under '" + folder
                        + "' from everybody else.",
                found);
    }

    static BackendMisconfiguredException noClock(String resource) {
        return new BackendMisconfiguredException(
                "Claim on " + resource
                        + " refused: the store answers without a Date header, so a token from the far future"
                        + " cannot be told. Nothing was written. Let what stands in front of the store pass the header on.",
                null);
    }

    static BackendMisconfiguredException noEtag(String resource) {
        return new BackendMisconfiguredException(
                "Use of " + resource
                        + " refused: the store answers without an ETag, so no write can be conditional on what was"
                        + " read. Let what stands in front of the store pass the header on.",
                null);
    }
}
