package dev.fenceline.lock;

import dev.fenceline.BackendMisconfiguredException;
import dev.fenceline.BackendUnavailableException;
import dev.fenceline.FencelineException;
import io.lettuce.core.RedisCommandExecutionException;
import java.io.IOException;

/** Says in our words why a connection could not be made. */
final class ConnectFailure {

    private ConnectFailure() {}

    static FencelineException of(String server, Throwable thrown) {
        if (thrown instanceof FencelineException ours) {
            return ours;
        }
        for (Throwable cause = thrown; cause != null; cause = cause.getCause()) {
            String message = String.valueOf(cause.getMessage());
            if (!(cause instanceof RedisCommandExecutionException)) {
                continue;
            }
            if (message.startsWith("WRONGPASS") || message.startsWith("NOAUTH") || message.contains("AUTH")) {
                return new BackendMisconfiguredException(
                        server + " refused the login: " + message
                                + ". Check user and password in the URI, redis://user:password@host:port.",
                        thrown);
            }
        }
        return new BackendUnavailableException(
                "No connection to " + server + ": " + reason(thrown)
                        + ". Nothing was sent; check host, port and whether the server runs.",
                thrown);
    }

    /** What the network said: below it lies what the library made of it, above it how the library got there. */
    private static String reason(Throwable thrown) {
        Throwable reason = thrown;
        for (Throwable cause = thrown; cause != null; cause = cause.getCause()) {
            if (cause instanceof IOException || !(reason instanceof IOException)) {
                reason = cause;
            }
        }
        return reason.getClass().getSimpleName() + ": " + reason.getMessage();
    }
}
