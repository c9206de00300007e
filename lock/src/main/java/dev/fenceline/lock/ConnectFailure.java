package dev.fenceline.lock;

import dev.fenceline.BackendMisconfiguredException;
import dev.fenceline.BackendUnavailableException;
import dev.fenceline.FencelineException;
import io.lettuce.core.RedisCommandExecutionException;

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
            if (message.startsWith("NOPERM")) {
                String command = ServerCheck.command(message, "ping");
                return new BackendMisconfiguredException(
                        server + " does not grant this user what locks need. Missing: +" + command
                                + ". Give it with ACL SETUSER <user> +" + command + ".",
                        thrown);
            }
        }
        return new BackendUnavailableException(
                "No connection to " + server + ": " + deepest(thrown)
                        + ". Nothing was sent; check host, port and whether the server runs.",
                thrown);
    }

    private static String deepest(Throwable thrown) {
        Throwable cause = thrown;
        while (cause.getCause() != null) {
            cause = cause.getCause();
        }
        return cause.getClass().getSimpleName() + ": " + cause.getMessage();
    }
}
