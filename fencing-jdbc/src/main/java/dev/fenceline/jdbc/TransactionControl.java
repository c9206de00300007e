package dev.fenceline.jdbc;

import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;

/**
 * Recognises transaction control in statement text. Text that begins with it is refused; a COMMIT further on, in a string of
 * several statements, is found by the last check before the fence's own COMMIT, and remembered until then.
 */
final class TransactionControl {

    private static final Set<String> ENDING = Set.of("COMMIT", "END", "BEGIN", "ABORT");
    private static final Set<String> NOISE = Set.of("WORK", "TRANSACTION", "SAVEPOINT");

    private final String sql;
    private int at;

    private TransactionControl(String sql) {
        this.sql = sql;
    }

    /** Returns the command that would end the transaction or begin another, if the text begins with one. */
    static Optional<String> ending(String sql) {
        TransactionControl text = new TransactionControl(sql);
        String first = text.word();
        if (ENDING.contains(first)) {
            return Optional.of(first);
        }
        if (first.equals("ROLLBACK")) {
            return text.rollbackTarget().isPresent() ? Optional.empty() : Optional.of(first);
        }
        if (first.equals("START") || first.equals("PREPARE")) {
            String second = text.word();
            return second.equals("TRANSACTION") ? Optional.of(first + " TRANSACTION") : Optional.empty();
        }
        return Optional.empty();
    }

    /** Tells whether a later statement of the text would end the transaction or begin another. */
    static boolean endsLater(String sql) {
        return sql.indexOf(';') >= 0
                && SqlWords.of(sql).stream()
                        .anyMatch(word -> word.is(";")
                                && ending(sql.substring(word.at() + 1)).isPresent());
    }

    /**
     * Tells whether the text is one SET or SHOW, which reads no data. Not so a string of several statements, of which only the first need be
     * one, and not SET TRANSACTION SNAPSHOT, which takes a snapshot that may be older than the claim.
     */
    static boolean isSetting(String sql) {
        String first = new TransactionControl(sql).word();
        if (!first.equals("SET") && !first.equals("SHOW")) {
            return false;
        }
        List<SqlWords.Word> words = SqlWords.of(sql);
        for (int i = 0; i + 1 < words.size(); i++) {
            boolean isFollowed = words.get(i).is(";") && !words.get(i + 1).is(";");
            boolean takesSnapshot =
                    words.get(i).is("TRANSACTION") && words.get(i + 1).is("SNAPSHOT");
            if (isFollowed || takesSnapshot) {
                return false;
            }
        }
        return true;
    }

    /** Returns the name of the savepoint that the text sets, if it begins so. */
    static Optional<String> savepoint(String sql) {
        TransactionControl text = new TransactionControl(sql);
        return text.word().equals("SAVEPOINT") ? text.identifier() : Optional.empty();
    }

    /** Returns the name of the savepoint that the text rolls back to, if it begins so. */
    static Optional<String> rollbackTo(String sql) {
        TransactionControl text = new TransactionControl(sql);
        return text.word().equals("ROLLBACK") ? text.rollbackTarget() : Optional.empty();
    }

    private Optional<String> rollbackTarget() {
        String next = word();
        if (next.equals("WORK") || next.equals("TRANSACTION")) {
            next = word();
        }
        if (!next.equals("TO")) {
            return Optional.empty();
        }
        int beforeNoise = skip();
        if (!NOISE.contains(word())) {
            at = beforeNoise;
        }
        return identifier();
    }

    private String word() {
        int from = skip();
        while (at < sql.length() && (Character.isLetterOrDigit(sql.charAt(at)) || sql.charAt(at) == '_')) {
            at++;
        }
        return sql.substring(from, at).toUpperCase(Locale.ROOT);
    }

    private Optional<String> identifier() {
        int from = skip();
        if (from < sql.length() && sql.charAt(from) == '"') {
            int end = sql.indexOf('"', from + 1);
            return end < 0 ? Optional.empty() : Optional.of(sql.substring(from + 1, end));
        }
        String name = word();
        return name.isEmpty() ? Optional.empty() : Optional.of(name.toLowerCase(Locale.ROOT));
    }

    /** White space, comments (which nest in PostgreSQL) and empty statements mean nothing. */
    private int skip() {
        while (at < sql.length()) {
            if (Character.isWhitespace(sql.charAt(at)) || sql.charAt(at) == ';') {
                at++;
            } else if (sql.startsWith("--", at)) {
                skipLine();
            } else if (sql.startsWith("/*", at)) {
                skipComment();
            } else {
                break;
            }
        }
        return at;
    }

    /** To the server a carriage return ends a line by itself. */
    private void skipLine() {
        while (at < sql.length() && sql.charAt(at) != '\n' && sql.charAt(at) != '\r') {
            at++;
        }
    }

    private void skipComment() {
        int depth = 0;
        do {
            if (sql.startsWith("/*", at)) {
                depth++;
                at += 2;
            } else if (sql.startsWith("*/", at)) {
                depth--;
                at += 2;
            } else {
                at++;
            }
        } while (depth > 0 && at < sql.length());
    }
}
