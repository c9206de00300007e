package dev.fenceline.lock;

import dev.fenceline.BackendMisconfiguredException;
import dev.fenceline.BackendUnavailableException;
import dev.fenceline.FencelineException;
import io.lettuce.core.RedisCommandExecutionException;
import java.io.IOException;
import java.util.regex.Pattern;

/** Says in our words why a connection could not be made. */
final class ConnectFailure {

    private static final Pattern LOGIN = Pattern.compile("^WRONGPASS|AUTH", Pattern.CASE_INSENSITIVE);
    private static final Pattern UNKNOWN_COMMAND = Pattern.compile("^ERR unknown command", Pattern.CASE_INSENSITIVE);
    private static final Pattern HARMLESS = Pattern.compile("(WRONGPASS|NOAUTH|NOPERM)\\b");

    /** Redis's own text to its last letter, with no password in it: what it calls so is a placeholder. */
    private static final String NO_PASSWORD_CONFIGURED =
            "ERR AUTH <password> called without any password configured for the default user";

    private ConnectFailure() {}

    static FencelineException of(String server, Throwable thrown) {
        if (thrown instanceof FencelineException ours) {
            return ours;
        }
        for (Throwable cause = thrown; cause != null; cause = cause.getCause()) {
            String said = String.valueOf(cause.getMessage());
            if (cause instanceof RedisCommandExecutionException
                    && LOGIN.matcher(said).find()) {
                return refusedLogin(server, said, thrown);
            }
        }
        return new BackendUnavailableException(
                "No connection to " + server + ": " + reason(thrown)
                        + ". Nothing was sent; check host, port and whether the server runs.",
                thrown);
    }

    /** Of a server that was asked what only a Sentinel knows. */
    static FencelineException ofSentinel(String address, Throwable thrown) {
        String said = String.valueOf(thrown.getMessage());
        if (thrown instanceof RedisCommandExecutionException
                && UNKNOWN_COMMAND.matcher(said).find()) {
            return new BackendMisconfiguredException(
                    "Redis at " + address
                            + " is no Sentinel: it does not know the command SENTINEL. Give redis-sentinel:// the"
                            + " hosts and ports of the Sentinels (26379 by default), or connect to the server itself by redis://.",
                    thrown);
        }
        return of("Sentinel at " + address, thrown);
    }

    /** Some errors repeat what they refuse, which is the password here. So does the cause, then. */
    private static BackendMisconfiguredException refusedLogin(String server, String said, Throwable thrown) {
        if (said.startsWith(NO_PASSWORD_CONFIGURED)) {
            return new BackendMisconfiguredException(
                    server + " refused the login: a password was sent without a user, and the default user has none."
                            + " Leave the password out, or name its user, redis://user:password@host:port.",
                    thrown);
        }
        boolean harmless = HARMLESS.matcher(said).lookingAt();
        String shown =
                harmless ? said : said.split("\\s", 2)[0] + " (the rest is left out, as it may repeat the password)";
        return new BackendMisconfiguredException(
                server + " refused the login: " + withoutFullStop(shown)
                        + ". Check user and password in the URI, redis://user:password@host:port.",
                harmless ? thrown : null);
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

    private static String withoutFullStop(String said) {
        return said.endsWith(".") ? said.substring(0, said.length() - 1) : said;
    }
}
