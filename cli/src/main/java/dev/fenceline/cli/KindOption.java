package dev.fenceline.cli;

import dev.fenceline.lock.LockKind;
import java.util.Locale;
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
            description = "fenced or efficiency: the same name is another lock in each (fenced).")
    private LockKind kind = LockKind.FENCED;

    LockKind kind() {
        return kind;
    }

    static String word(LockKind kind) {
        return kind.name().toLowerCase(Locale.ROOT);
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
