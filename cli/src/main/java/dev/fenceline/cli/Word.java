package dev.fenceline.cli;

import java.util.Arrays;
import java.util.stream.Collectors;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/** Reads one of a few words, as the enum's {@code toString} has them. */
abstract class Word<E extends Enum<E>> implements ITypeConverter<E> {

    private final E[] values;

    Word(E[] values) {
        this.values = values;
    }

    @Override
    public E convert(String word) {
        return Arrays.stream(values)
                .filter(value -> value.toString().equals(word))
                .findFirst()
                .orElseThrow(() -> new TypeConversionException("'" + word + "' is none of "
                        + Arrays.stream(values).map(Enum::toString).collect(Collectors.joining(", ")) + "."));
    }
}
