package dev.fenceline;

import java.util.regex.Pattern;

/**
 * What a doctor has to say of one setting: what it saw, where, and what to do about it. The subject and what was found make one
 * sentence, as in <i>Redis at localhost:6379</i> <i>has maxmemory-policy 'allkeys-lru', which may delete held locks</i>.
 *
 * <p><b>Guarantees:</b> no part is blank; none holds credentials. A code keeps its meaning from release to release, the other
 * texts may be worded better.
 *
 * <p><b>Thread-safety:</b> immutable.
 *
 * @param code names the rule for programs, in lower case with hyphens, such as {@code redis-eviction}
 * @param severity how bad it is
 * @param subject what was looked at, without credentials
 * @param found what is the case there, with the values that were seen: the sentence that the subject begins, without a full stop
 * @param remedy what to do, in sentences of its own
 */
public record Finding(String code, Severity severity, String subject, String found, String remedy) {

    /** How bad it is, the worst first. */
    public enum Severity {
        /** What Fenceline promises does not hold, or it cannot work: a connect, or the first use, is refused for it. */
        ERROR,
        /** It works, and something that can happen has consequences that many would not accept. */
        WARNING,
        /** Worth knowing: something could not be looked at, or is a matter of choice. */
        INFO
    }

    private static final Pattern CODE = Pattern.compile("[a-z][a-z0-9]*(-[a-z0-9]+)*");

    /**
     * Checks the texts.
     *
     * @throws IllegalArgumentException when the code is not in lower case with hyphens, or a text is blank; the message names it
     */
    public Finding {
        if (!CODE.matcher(code).matches()) {
            throw new IllegalArgumentException(
                    "The code '" + code
                            + "' of a finding cannot be used: lower case letters and digits in words joined by hyphens, such as redis-eviction.");
        }
        requireText(code, "subject", subject);
        requireText(code, "found", found);
        requireText(code, "remedy", remedy);
        if (found.endsWith(".")) {
            throw new IllegalArgumentException("What was found for '" + code
                    + "' ends with a full stop; it is the rest of the sentence that the subject begins: '" + found
                    + "'.");
        }
    }

    private static void requireText(String code, String part, String text) {
        if (text.isBlank()) {
            throw new IllegalArgumentException("The finding '" + code + "' has no " + part + ".");
        }
    }

    /** Returns the whole in one line: severity, code, what was found where, and what to do. */
    @Override
    public String toString() {
        return severity + " " + code + ": " + subject + " " + found + ". " + remedy;
    }
}
