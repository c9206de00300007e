package dev.fenceline.jdbc;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import org.postgresql.core.Parser;

/** Splits SQL text into what means something: words and single signs; quoted text is one sign, comments and white space are none. */
final class SqlWords {

    /**
     * A word in capitals, or a sign.
     *
     * @param text the word or the sign; the opening quote stands for quoted text
     * @param at where it begins
     * @param depth in how many parentheses it is; a parenthesis counts itself out
     */
    record Word(String text, int at, int depth) {

        boolean is(String other) {
            return text.equals(other);
        }
    }

    private static final int LONGEST_OUTLINE = 200;

    private SqlWords() {}

    static List<Word> of(String sql) {
        List<Word> words = new ArrayList<>();
        char[] text = sql.toCharArray();
        int depth = 0;
        for (int i = 0; i < text.length; i++) {
            int from = i;
            char c = text[i];
            if (isPartOfWord(c)) {
                while (i + 1 < text.length && (isPartOfWord(text[i + 1]) || text[i + 1] == '$')) {
                    i++;
                }
                words.add(new Word(sql.substring(from, i + 1).toUpperCase(Locale.ROOT), from, depth));
                continue;
            }
            i = end(text, i);
            boolean isComment = i > from && (c == '-' || c == '/');
            if (isComment || Character.isWhitespace(c)) {
                continue;
            }
            if (c == ')') {
                depth--;
            }
            words.add(new Word(String.valueOf(c), from, depth));
            if (c == '(') {
                depth++;
            }
        }
        return words;
    }

    /** Counts the parameters of JDBC; two question marks are an operator's one. */
    static int parameters(String sql) {
        List<Word> words = of(sql);
        int count = 0;
        for (int i = 0; i < words.size(); i++) {
            if (words.get(i).is("?")) {
                boolean isOperator = i + 1 < words.size()
                        && words.get(i + 1).is("?")
                        && words.get(i + 1).at() == words.get(i).at() + 1;
                if (isOperator) {
                    i++;
                } else {
                    count++;
                }
            }
        }
        return count;
    }

    /** The text for messages: shortened, and without quoted text, in which there may be data. */
    static String outline(String sql) {
        StringBuilder outline = new StringBuilder();
        char[] text = sql.toCharArray();
        for (int i = 0; i < text.length && outline.length() < LONGEST_OUTLINE; i++) {
            int end = end(text, i);
            boolean isData = end > i && (text[i] == '\'' || text[i] == '$');
            outline.append(isData ? "'…'" : sql.substring(i, Math.min(end + 1, text.length)));
            i = end;
        }
        return outline.length() < LONGEST_OUTLINE ? outline.toString() : outline + "…";
    }

    /** Where something ends that is passed over as a whole; the same place for a single sign. */
    private static int end(char[] text, int at) {
        return switch (text[at]) {
            case '\'' -> Parser.parseSingleQuotes(text, at, true);
            case '"' -> Parser.parseDoubleQuotes(text, at);
            case '$' -> Parser.parseDollarQuotes(text, at);
            case '-' -> Parser.parseLineComment(text, at);
            case '/' -> Parser.parseBlockComment(text, at);
            default -> at;
        };
    }

    private static boolean isPartOfWord(char c) {
        return Character.isLetterOrDigit(c) || c == '_';
    }
}
