package dev.fenceline.s3;

import dev.fenceline.testkit.S3FaultProxy;
import dev.fenceline.testkit.S3FaultProxy.OnRequest;
import java.util.List;

/** One request of an operation: where a fault can lie. */
enum FaultStep {
    ENVELOPE_CREATE_LOOK(S3Format.ENVELOPE, Operation.CREATE, "first claim: look", "GET"),
    ENVELOPE_CREATE(S3Format.ENVELOPE, Operation.CREATE, "first claim: creation", "PUT"),
    ENVELOPE_CLAIM_LOOK(S3Format.ENVELOPE, Operation.CLAIM, "claim: look", "GET"),
    ENVELOPE_CLAIM(S3Format.ENVELOPE, Operation.CLAIM, "claim: rewriting", "PUT"),
    ENVELOPE_WRITE(S3Format.ENVELOPE, Operation.WRITE, "write", "PUT"),
    ENVELOPE_DELETE(S3Format.ENVELOPE, Operation.DELETE, "deletion", "PUT"),
    ENVELOPE_LOOK_BACK(S3Format.ENVELOPE, Operation.WRITE, "read-back of a write whose answer was lost", "GET") {
        @Override
        List<S3FaultProxy.Armed> before(OnRequest request) {
            return List.of(Harm.UNHEARD.on(request, FaultCase.Times.ONCE));
        }
    },
    ENVELOPE_LOOK_BACK_DELAYED(S3Format.ENVELOPE, Operation.WRITE, "read-back of a write that is on its way", "GET") {
        @Override
        List<S3FaultProxy.Armed> before(OnRequest request) {
            return List.of(Harm.DELAYED.on(request, FaultCase.Times.ONCE));
        }
    },
    ENVELOPE_BUMP(S3Format.ENVELOPE, Operation.WRITE, "rewriting against a write that is on its way", "PUT") {
        @Override
        List<S3FaultProxy.Armed> before(OnRequest request) {
            return List.of(Harm.DELAYED.on(request, FaultCase.Times.ONCE));
        }
    },
    POINTER_CLAIM(S3Format.POINTER, Operation.CLAIM, "claim: rewriting", "PUT"),
    POINTER_DATA(S3Format.POINTER, Operation.WRITE, "write: data", "PUT") {
        @Override
        boolean isAbout(String key, String requested) {
            return requested.startsWith(key + ".data/");
        }
    },
    POINTER_WRITE(S3Format.POINTER, Operation.WRITE, "write: pointer", "PUT"),
    POINTER_BUMP(S3Format.POINTER, Operation.WRITE, "rewriting against a write that is on its way", "PUT") {
        @Override
        List<S3FaultProxy.Armed> before(OnRequest request) {
            return List.of(Harm.DELAYED.on(request, FaultCase.Times.ONCE));
        }
    },
    POINTER_DELETE(S3Format.POINTER, Operation.DELETE, "deletion", "PUT");

    /** What a session does through the faults. */
    enum Operation {
        CREATE,
        CLAIM,
        WRITE,
        DELETE
    }

    private final S3Format format;
    private final Operation operation;
    private final String words;
    private final String method;

    FaultStep(S3Format format, Operation operation, String words, String method) {
        this.format = format;
        this.operation = operation;
        this.words = words;
        this.method = method;
    }

    S3Format format() {
        return format;
    }

    Operation operation() {
        return operation;
    }

    /** The faults without which the request would not be sent, on the PUT before it. */
    List<S3FaultProxy.Armed> before(OnRequest put) {
        return List.of();
    }

    boolean isAbout(String key, String requested) {
        return requested.equals(key);
    }

    /** Whether its client waits for a timeout before it comes to this step. */
    boolean isSlow() {
        return this == ENVELOPE_LOOK_BACK_DELAYED || this == ENVELOPE_BUMP || this == POINTER_BUMP;
    }

    /** The request as the proxy is to find it. */
    OnRequest request(S3FaultProxy proxy, String key) {
        return proxy.on(
                words + " of " + key, request -> request.method().equals(method) && isAbout(key, request.key()));
    }

    @Override
    public String toString() {
        return words;
    }
}
