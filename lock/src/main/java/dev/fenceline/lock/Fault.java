package dev.fenceline.lock;

import dev.fenceline.BackendMisconfiguredException;
import dev.fenceline.Finding;
import dev.fenceline.Finding.Severity;
import java.util.concurrent.CompletionException;
import org.jspecify.annotations.Nullable;

/**
 * What is wrong with a server, in the words in which a connect is refused for it, and a doctor tells of it.
 *
 * @param found goes on after the server's name, without a full stop
 */
record Fault(
        Kind kind,
        String code,
        String found,
        String remedy,
        @Nullable Throwable cause) {

    /** What it means for whoever connects. */
    enum Kind {
        /** It stays so until somebody changes a setting. */
        MISCONFIGURED,
        /** The server says that it cannot now. */
        UNABLE
    }

    static Fault misconfigured(String code, String found, String remedy) {
        return misconfigured(code, found, remedy, null);
    }

    static Fault misconfigured(String code, String found, String remedy, @Nullable Throwable cause) {
        return new Fault(Kind.MISCONFIGURED, code, found, remedy, cause);
    }

    static Fault unable(String code, String found, String remedy) {
        return new Fault(Kind.UNABLE, code, found, remedy, null);
    }

    /** What ends a connect. */
    RuntimeException refusal(String server) {
        return kind == Kind.UNABLE
                ? new CompletionException(new SendFailure(SendFailure.Kind.UNABLE, server + " " + found, cause))
                : exception(server);
    }

    BackendMisconfiguredException exception(String server) {
        return new BackendMisconfiguredException(server + " " + found + ". " + remedy, cause);
    }

    /** What a doctor tells: that locks are refused there. */
    Finding finding(String server) {
        return new Finding(code, Severity.ERROR, server, found, remedy);
    }
}
