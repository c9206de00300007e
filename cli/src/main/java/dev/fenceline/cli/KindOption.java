package dev.fenceline.cli;

import dev.fenceline.lock.LockKind;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Locale;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.Option;
import picocli.CommandLine.TypeConversionException;

/** Which of the two locks of a name. */
final class KindOption {

    @Option(
            names = "--kind",
            paramLabel = "KIND",
            order = 10,
            converter = Reader.class,
            completionCandidates = Words.class,
            description = "fenced or efficiency: the same name is another lock in each (fenced).")
    private @Nullable LockKind kind;

    LockKind kind() {
        return kind == null ? LockKind.FENCED : kind;
    }

    boolean isChosen() {
        return kind != null;
    }

    static LockKind other(LockKind kind) {
        return kind == LockKind.FENCED ? LockKind.EFFICIENCY : LockKind.FENCED;
    }

    static String word(LockKind kind) {
        return kind.name().toLowerCase(Locale.ROOT);
    }

    /** For completion: the words, and not the names of constants. */
    static final class Words extends ArrayList<String> {

        private static final long serialVersionUID = 1L;

        Words() {
            super(Arrays.stream(LockKind.values()).map(KindOption::word).toList());
        }
    }

    /** Reads the word. */
    static final class Reader implements ITypeConverter<LockKind> {
        @Override
        public LockKind convert(String word) {
            for (LockKind kind : LockKind.values()) {
                if (word(kind).equals(word)) {
                    return kind;
                }
            }
            throw new TypeConversionException("'" + word + "' is none of fenced, efficiency.");
        }
    }
}
