package dev.fenceline.jdbc.repository;

import java.lang.reflect.Method;
import java.util.Arrays;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/** Names methods: {@code save}, {@code find*}, or one of several overloads by its parameters' simple names, {@code find(long)}. */
final class MethodPattern {

    private final String text;
    private final Pattern pattern;

    private MethodPattern(String text) {
        this.text = text;
        this.pattern = Pattern.compile(Arrays.stream(text.replace(" ", "").split("\\*", -1))
                .map(Pattern::quote)
                .collect(Collectors.joining(".*")));
    }

    static MethodPattern of(String text) {
        if (text.isBlank()) {
            throw new IllegalArgumentException(
                    "A pattern for methods is blank. Write a name, \"find*\", or \"find(long)\" for one of several.");
        }
        return new MethodPattern(text);
    }

    boolean matches(Method method) {
        String name =
                text.indexOf('(') < 0 ? method.getName() : signature(method).replace(" ", "");
        return pattern.matcher(name).matches();
    }

    /** For messages: {@code save(Account)}. */
    static String signature(Method method) {
        return method.getName()
                + Arrays.stream(method.getParameterTypes())
                        .map(Class::getSimpleName)
                        .collect(Collectors.joining(", ", "(", ")"));
    }

    @Override
    public String toString() {
        return "\"" + text + "\"";
    }
}
