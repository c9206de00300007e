package dev.fenceline.cli;

import java.util.Locale;

/** What protection does to writers that have not entered. */
enum Mode {
    /** Records them and lets them pass. */
    OBSERVE,
    /** Refuses them. */
    ENFORCE;

    @Override
    public String toString() {
        return name().toLowerCase(Locale.ROOT);
    }

    /** Reads the word. */
    static final class Reader extends Word<Mode> {
        Reader() {
            super(values());
        }
    }
}
