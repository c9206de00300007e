package dev.fenceline.s3;

import dev.fenceline.testkit.S3FaultProxy;
import dev.fenceline.testkit.S3FaultProxy.OnRequest;
import dev.fenceline.testkit.S3Request;
import java.util.Optional;
import java.util.function.BiPredicate;

/** One request of an operation: where a fault can lie. */
enum FaultStep {
    ENVELOPE_CREATE_LOOK(S3Format.ENVELOPE, Operation.CREATE, "first claim: look", FaultStep::isLook),
    ENVELOPE_CREATE(S3Format.ENVELOPE, Operation.CREATE, "first claim: creation", FaultStep::isPut),
    ENVELOPE_CLAIM_LOOK(S3Format.ENVELOPE, Operation.CLAIM, "claim: look", FaultStep::isLook),
    ENVELOPE_CLAIM(S3Format.ENVELOPE, Operation.CLAIM, "claim: rewriting", FaultStep::isPut),
    ENVELOPE_RESUME(S3Format.ENVELOPE, Operation.RESUME, "resumption", FaultStep::isLook),
    ENVELOPE_READ(S3Format.ENVELOPE, Operation.READ, "read", FaultStep::isLook),
    ENVELOPE_WRITE(S3Format.ENVELOPE, Operation.WRITE, "write", FaultStep::isPut),
    ENVELOPE_DELETE(S3Format.ENVELOPE, Operation.DELETE, "deletion", FaultStep::isPut),
    ENVELOPE_LOOK_BACK(
            S3Format.ENVELOPE,
            Operation.WRITE,
            "read-back of a write whose answer was lost",
            FaultStep::isLook,
            Harm.UNHEARD,
            FaultStep::isPut),
    ENVELOPE_LOOK_BACK_DELAYED(
            S3Format.ENVELOPE,
            Operation.WRITE,
            "read-back of a write that is on its way",
            FaultStep::isLook,
            Harm.DELAYED,
            FaultStep::isPut),
    ENVELOPE_BUMP(
            S3Format.ENVELOPE,
            Operation.WRITE,
            "rewriting against a write that is on its way",
            FaultStep::isPut,
            Harm.DELAYED,
            FaultStep::isPut),
    POINTER_CLAIM(S3Format.POINTER, Operation.CLAIM, "claim: rewriting", FaultStep::isPut),
    POINTER_RESUME(S3Format.POINTER, Operation.RESUME, "resumption", FaultStep::isLook),
    POINTER_READ(S3Format.POINTER, Operation.READ, "read: pointer", FaultStep::isLook),
    POINTER_READ_DATA(S3Format.POINTER, Operation.READ, "read: data", data("GET", "")),
    POINTER_DATA(S3Format.POINTER, Operation.WRITE, "write: data", data("PUT", "")),
    POINTER_PARTS_BEGIN(S3Format.POINTER, Operation.WRITE_PARTS, "write in parts: beginning", data("POST", "uploads")),
    POINTER_PART(S3Format.POINTER, Operation.WRITE_PARTS, "write in parts: a part", data("PUT", "partNumber=2")),
    POINTER_PARTS_COMPLETE(
            S3Format.POINTER, Operation.WRITE_PARTS, "write in parts: completion", data("POST", "uploadId=")),
    POINTER_PARTS_ABORT(
            S3Format.POINTER,
            Operation.WRITE_PARTS,
            "write in parts: abandoning, after a completion that was never done",
            data("DELETE", "uploadId="),
            Harm.DROPPED,
            data("POST", "uploadId=")),
    POINTER_WRITE(S3Format.POINTER, Operation.WRITE, "write: pointer", FaultStep::isPut),
    POINTER_BUMP(
            S3Format.POINTER,
            Operation.WRITE,
            "rewriting against a write that is on its way",
            FaultStep::isPut,
            Harm.DELAYED,
            FaultStep::isPut),
    POINTER_DELETE(S3Format.POINTER, Operation.DELETE, "deletion", FaultStep::isPut);

    /** What a session does through the faults. */
    enum Operation {
        CREATE,
        CLAIM,
        RESUME,
        READ,
        WRITE,
        WRITE_PARTS,
        DELETE;

        /** What is done under a claim that was made before the fault. */
        boolean needsClaim() {
            return this == WRITE || this == WRITE_PARTS || this == DELETE;
        }

        /** What may be repeated. */
        boolean isClaim() {
            return this == CREATE || this == CLAIM;
        }

        boolean isReading() {
            return this == READ || this == RESUME;
        }
    }

    private final S3Format format;
    private final Operation operation;
    private final String words;

    @SuppressWarnings("ImmutableEnumChecker") // the functions capture text alone
    private final BiPredicate<String, S3Request> request;

    private final Optional<Harm> earlier;

    @SuppressWarnings("ImmutableEnumChecker")
    private final BiPredicate<String, S3Request> earlierRequest;

    FaultStep(S3Format format, Operation operation, String words, BiPredicate<String, S3Request> request) {
        this.format = format;
        this.operation = operation;
        this.words = words;
        this.request = request;
        this.earlier = Optional.empty();
        this.earlierRequest = request;
    }

    FaultStep(
            S3Format format,
            Operation operation,
            String words,
            BiPredicate<String, S3Request> request,
            Harm earlier,
            BiPredicate<String, S3Request> earlierRequest) {
        this.format = format;
        this.operation = operation;
        this.words = words;
        this.request = request;
        this.earlier = Optional.of(earlier);
        this.earlierRequest = earlierRequest;
    }

    private static boolean isLook(String key, S3Request request) {
        return request.method().equals("GET") && request.key().equals(key);
    }

    private static boolean isPut(String key, S3Request request) {
        return request.method().equals("PUT") && request.key().equals(key);
    }

    private static BiPredicate<String, S3Request> data(String method, String query) {
        return (key, request) -> request.method().equals(method)
                && request.key().startsWith(key + ".data/")
                && request.query().contains(query);
    }

    S3Format format() {
        return format;
    }

    Operation operation() {
        return operation;
    }

    /** The fault without which the request would not be sent, on a request before it. */
    Optional<S3FaultProxy.Armed> armEarlier(S3FaultProxy proxy, String key) {
        return earlier.map(harm -> harm.on(on(proxy, key, earlierRequest), earlierTimes()));
    }

    private FaultCase.Times earlierTimes() {
        return this == POINTER_PARTS_ABORT ? FaultCase.Times.EACH : FaultCase.Times.ONCE;
    }

    /** Whether the store carries out what the earlier fault met. */
    boolean isEarlierAnswered() {
        return earlier.filter(Harm::isAnswered).isPresent();
    }

    /** Whether its client waits for a timeout before it comes to this step. */
    boolean isSlow() {
        return earlier.filter(Harm::isSlow).isPresent();
    }

    /** The request as the proxy is to find it. */
    OnRequest request(S3FaultProxy proxy, String key) {
        return on(proxy, key, request);
    }

    private OnRequest on(S3FaultProxy proxy, String key, BiPredicate<String, S3Request> which) {
        return proxy.on(words + " of " + key, sent -> which.test(key, sent));
    }

    @Override
    public String toString() {
        return words;
    }
}
