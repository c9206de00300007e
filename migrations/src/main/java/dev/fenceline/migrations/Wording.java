package dev.fenceline.migrations;

import java.util.Locale;
import java.util.regex.Pattern;

/**
 * Lets messages and findings say what to do in the words of whoever reads them: as calls for those who program, as commands for those who
 * sit at a shell. What was found is told alike.
 *
 * <p><b>Thread-safety:</b> immutable.
 */
public enum Wording {
    /** Calls of this library: {@code FenceMigrations.on(owner).install()}. */
    JAVA,
    /** Commands of the command line: {@code fenceline install}. */
    SHELL;

    /** What a role may be granted, as the call and as the command name it. */
    enum Right {
        APP("grantTo"),
        ROWS("grantRowsTo"),
        PROTECTION("grantProtectionTo"),
        OPERATIONS("grantOperationsTo"),
        BYPASS("grantBypassTo");

        private final String method;

        Right(String method) {
            this.method = method;
        }
    }

    private static final Pattern ONE_WORD = Pattern.compile("[A-Za-z0-9_.-]+");

    String install() {
        return this == JAVA ? "FenceMigrations.on(owner).install()" : "fenceline install";
    }

    String verify() {
        return this == JAVA ? "FenceMigrations.verify" : "fenceline verify";
    }

    String afterRestore() {
        return this == JAVA ? "FenceOperations.afterRestore" : "fenceline after-restore";
    }

    String unprotect(TableName table) {
        return this == JAVA ? "Unprotect" : "fenceline unprotect --table " + argument(table.toString());
    }

    String onSubscriber(String table) {
        return this == JAVA
                ? "Unprotect.table(…).onSubscriber() for it"
                : "fenceline unprotect --subscriber --table " + argument(table);
    }

    /** For a role whose name is known. */
    String grant(Right right, String role) {
        return this == JAVA
                ? "FenceMigrations.on(owner)." + right.method + "(\"" + role + "\")"
                : command(right, argument(role));
    }

    /** For the role that is connected, whoever that is. */
    String grant(Right right) {
        return this == JAVA ? "FenceMigrations.on(owner)." + right.method + "(role)" : command(right, "ROLE");
    }

    private static String command(Right right, String role) {
        return "fenceline grant " + right.name().toLowerCase(Locale.ROOT) + " --to " + role;
    }

    /** As a shell reads it for one word. */
    private static String argument(String text) {
        return ONE_WORD.matcher(text).matches() ? text : "'" + text.replace("'", "'\\''") + "'";
    }
}
