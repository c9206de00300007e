package dev.fenceline.jdbc.repository;

import java.lang.reflect.Parameter;
import java.lang.reflect.Type;
import java.util.Arrays;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;

/**
 * The lines of a unit that a refusal shows: a read of the repository, and the refused call with what was read. What the caller had in its
 * hands is not in it: that was read before the unit, and writing it there would lose what was written in between.
 */
record SuggestedUnit(String letter, TypeBindings types) {

    private enum Shape {
        ONE,
        OPTIONAL,
        SEVERAL
    }

    /** What a method reads: one, perhaps one, or several. */
    private record Read(RepositoryMethod method, Shape shape, Class<?> whole, Class<?> each) {}

    String body(RepositoryMethod called, Collection<RepositoryMethod> methods, List<String> key) {
        Optional<Read> reading = methods.stream()
                .filter(method -> method.kind() == MethodKind.READS
                        && method.method().getReturnType() != void.class
                        && method.method().getParameterCount() > 0)
                .map(this::read)
                .min(Comparator.comparing((Read read) -> !takes(called, read.whole))
                        .thenComparing(read -> !takes(called, read.each))
                        .thenComparing(read -> read.shape == Shape.SEVERAL)
                        .thenComparing(read -> read.method.method().getParameterCount())
                        .thenComparing(read -> MethodPattern.signature(read.method.method())));
        return reading.map(read -> body(called, read, readCall(read.method, key)))
                .orElseGet(() -> "…; " + call(called, "(…)") + ";");
    }

    private String body(RepositoryMethod called, Read read, String source) {
        boolean takesWhole = takes(called, read.whole);
        if (read.shape == Shape.SEVERAL && !takesWhole && takes(called, read.each)) {
            return "for (var x : " + source + ") { …; " + call(called, withX(called, read.each)) + "; }";
        }
        boolean opens = read.shape == Shape.OPTIONAL && !takesWhole;
        return "var x = " + source + (opens ? ".orElseThrow()" : "") + "; …; "
                + call(called, withX(called, takesWhole ? read.whole : read.each)) + ";";
    }

    private Read read(RepositoryMethod method) {
        Type returned = method.method().getGenericReturnType();
        Class<?> whole = types.classOf(returned);
        Optional<Class<?>> perhaps = types.contentOfOptional(returned);
        if (perhaps.isPresent()) {
            return new Read(method, Shape.OPTIONAL, whole, perhaps.get());
        }
        return types.elementOf(returned)
                .map(element -> new Read(method, Shape.SEVERAL, whole, element))
                .orElseGet(() -> new Read(method, Shape.ONE, whole, whole));
    }

    /** Whether an argument of it is of that class. A key says nothing: a number that was read may be anything. */
    private boolean takes(RepositoryMethod called, Class<?> read) {
        return Arrays.stream(called.method().getParameters()).anyMatch(parameter -> isOf(parameter, read));
    }

    private boolean isOf(Parameter parameter, Class<?> read) {
        return !LockRule.ByName.isKey(read)
                && types.classOf(parameter.getParameterizedType()).equals(read);
    }

    private String withX(RepositoryMethod called, Class<?> read) {
        return takes(called, read)
                ? Arrays.stream(called.method().getParameters())
                        .map(parameter -> isOf(parameter, read) ? "x" : "…")
                        .collect(Collectors.joining(", ", "(", ")"))
                : "(/* made from x */)";
    }

    /** With the key of the one lock, if that is what the method asks for. */
    private String readCall(RepositoryMethod reading, List<String> key) {
        return call(
                reading,
                key.size() == reading.method().getParameterCount()
                        ? "(" + String.join(", ", key) + ")"
                        : Arrays.stream(reading.method().getParameters())
                                .map(parameter -> parameter.isNamePresent() ? parameter.getName() : "…")
                                .collect(Collectors.joining(", ", "(", ")")));
    }

    private String call(RepositoryMethod method, String arguments) {
        return letter + "." + method.method().getName() + (method.method().getParameterCount() == 0 ? "()" : arguments);
    }
}
