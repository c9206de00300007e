package dev.fenceline.lock;

import java.util.concurrent.CompletionException;
import org.jspecify.annotations.Nullable;

/** Why a command has no answer that says what happened. */
final class SendFailure extends Exception {

    private static final long serialVersionUID = 1L;

    /** What is known of the command, and what to do. */
    enum Kind {
        /** Not sent, there is no connection. A new one is being made. */
        UNREACHABLE,
        /** Sent, and no answer came that counts: it was executed, will be, or never is. */
        UNANSWERED,
        /** The server answered that it cannot do it now. Not executed. */
        UNABLE,
        /** The server answered that we may not. Not executed, and asking again does not help. */
        FORBIDDEN
    }

    private final Kind kind;

    SendFailure(Kind kind, String message, @Nullable Throwable cause) {
        super(message, cause);
        this.kind = kind;
    }

    Kind kind() {
        return kind;
    }

    /** Takes the failure out of what a stage wraps around it. */
    static SendFailure of(Throwable thrown) {
        Throwable inner = thrown;
        while (inner instanceof CompletionException && inner.getCause() != null) {
            inner = inner.getCause();
        }
        return inner instanceof SendFailure failure
                ? failure
                : new SendFailure(Kind.UNANSWERED, "failed in the client: " + inner, inner);
    }
}
