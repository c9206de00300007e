package dev.fenceline.lock;

import dev.fenceline.BackendMisconfiguredException;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** Reads what an access list refused, and says what would have to be granted. */
final class Grants {

    private static final Pattern COMMAND = Pattern.compile("'([A-Za-z]+)(\\|[A-Za-z]+)?' command");
    private static final Pattern KEY_REFUSED = Pattern.compile("access .*key");
    private static final Pattern CHANNEL_REFUSED = Pattern.compile("(access .*|publish to the )channel");
    private static final Pattern REFUSED =
            Pattern.compile("permission|The user executing the script can't|" + CHANNEL_REFUSED + "|" + KEY_REFUSED);

    private Grants() {}

    /** Tells whether an error is that of an access list. */
    static boolean refused(String error) {
        return REFUSED.matcher(error).find();
    }

    /** What would have to be granted for an error not to happen again. */
    static String needed(KeySpace keys, String error, String command) {
        if (CHANNEL_REFUSED.matcher(error).find()) {
            return "&" + keys.pattern();
        }
        return KEY_REFUSED.matcher(error).find() ? "~" + keys.pattern() : "+" + command;
    }

    /** The command that a message names. */
    static String command(String message, String otherwise) {
        Matcher matcher = COMMAND.matcher(message);
        return matcher.find() ? matcher.group(1) : otherwise;
    }

    static BackendMisconfiguredException missing(String server, Set<String> missing, @Nullable Throwable cause) {
        return fault(missing, cause).exception(server);
    }

    static Fault fault(Set<String> missing, @Nullable Throwable cause) {
        String grants = String.join(" ", missing);
        return Fault.misconfigured(
                "redis-grants",
                "does not grant this user what locks need. Missing: " + grants,
                "Give them with ACL SETUSER <user> " + grants + ".",
                cause);
    }
}
