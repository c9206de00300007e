package dev.fenceline.jdbc;

import java.util.List;
import java.util.Set;

/** Looks at the text of one INSERT, UPDATE, DELETE or MERGE, which is to become a part of a larger statement. */
final class DmlText {

    private static final Set<String> WRITING = Set.of("INSERT", "UPDATE", "DELETE", "MERGE");
    private static final Set<String> READING = Set.of("SELECT", "VALUES", "TABLE");

    private DmlText() {}

    /**
     * Returns the text without semicolons at its end.
     *
     * @throws IllegalArgumentException when it is anything else; the message says what it is, and what to call instead
     */
    static String checked(String sql) {
        List<SqlWords.Word> words = SqlWords.of(sql);
        int end = words.size();
        while (end > 0 && words.get(end - 1).is(";")) {
            end--;
        }
        String text = end < words.size() ? sql.substring(0, words.get(end).at()) : sql;
        words = words.subList(0, end);
        if (words.isEmpty()) {
            throw refused("it is empty");
        }
        if (words.stream().anyMatch(word -> word.is(";"))) {
            throw refused("it is several statements, of which some could commit and others not");
        }
        if (words.stream().anyMatch(word -> word.depth() < 0)) {
            throw refused("a parenthesis is closed that was not opened");
        }
        String command = command(words);
        if (READING.contains(command)) {
            throw refused("it is a " + command + ", which changes nothing", "readOnly");
        }
        if (!WRITING.contains(command)) {
            throw refused("it begins with " + command + ", and is no INSERT, UPDATE, DELETE or MERGE");
        }
        if (words.stream().anyMatch(word -> word.depth() == 0 && word.is("RETURNING"))) {
            throw refused("it has a RETURNING clause, and this form counts rows and returns none");
        }
        return text;
    }

    /** The command, behind the WITH clause if there is one. */
    private static String command(List<SqlWords.Word> words) {
        if (!words.get(0).is("WITH")) {
            return words.get(0).text();
        }
        for (int i = 1; i < words.size(); i++) {
            SqlWords.Word word = words.get(i);
            boolean opensQuery = i > 1
                    && words.get(i - 1).is("(")
                    && (words.get(i - 2).is("AS") || words.get(i - 2).is("MATERIALIZED"));
            if (opensQuery && WRITING.contains(word.text())) {
                throw refused("its WITH clause has " + word.text() + ", which PostgreSQL takes at the top level only");
            }
            if (word.depth() == 0 && (WRITING.contains(word.text()) || READING.contains(word.text()))) {
                return word.text();
            }
        }
        return "WITH";
    }

    private static IllegalArgumentException refused(String why) {
        return refused(why, "inTransaction");
    }

    // Without the text itself, in which there may be data.
    private static IllegalArgumentException refused(String why, String instead) {
        return new IllegalArgumentException("This SQL cannot run as one fenced statement: " + why
                + ". Nothing was sent. Give it one INSERT, UPDATE, DELETE or MERGE, or use " + instead
                + " of the claim.");
    }
}
