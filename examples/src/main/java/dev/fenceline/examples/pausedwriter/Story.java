package dev.fenceline.examples.pausedwriter;

import java.io.PrintStream;
import java.util.Locale;

/** Tells the demo on the terminal, in aligned lines: who, and what. */
final class Story {

    private static final int WIDTH = 112;

    private final PrintStream out;

    Story(PrintStream out) {
        this.out = out;
    }

    void plain(String text) {
        out.println(text);
    }

    void chapter(int number, Mode mode) {
        out.println();
        out.println(number + "  " + mode.title().toUpperCase(Locale.ROOT) + ": " + mode.explanation());
    }

    void scene(String scene, String text) {
        wrapped(String.format(Locale.ROOT, "   %-9s ", scene), text);
    }

    void step(String who, String text) {
        wrapped(String.format(Locale.ROOT, "   %-9s %-11s ", "", who), text);
    }

    private void wrapped(String label, String text) {
        StringBuilder line = new StringBuilder(label);
        for (String word : text.split(" ", -1)) {
            boolean first = line.length() == label.length();
            if (!first && line.length() + 1 + word.length() > WIDTH) {
                out.println(line);
                line = new StringBuilder(" ".repeat(label.length()));
                first = true;
            }
            line.append(first ? "" : " ").append(word);
        }
        out.println(line);
    }
}
