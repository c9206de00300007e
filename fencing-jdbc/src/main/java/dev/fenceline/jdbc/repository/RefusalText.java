package dev.fenceline.jdbc.repository;

import dev.fenceline.LockName;
import java.lang.reflect.Parameter;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** Says why a call was refused, and shows the unit to be written instead, with the names of the repository at hand. */
record RefusalText(Class<?> type, Map<RepositoryMethod.Signature, RepositoryMethod> methods) {

    String outsideOfUnit(RepositoryMethod called, List<LockName> locks) {
        String method = called.method().getName();
        return called.name(type) + " under " + quoted(locks)
                + " refused outside of a unit: what it writes was computed from"
                + " something read before, and whatever was written in between would be lost. Nothing was called. Put the read"
                + " and the write into one unit: " + unit(locks, body(called, locks)) + " Only if " + method
                + " reads, computes and writes all by itself, name it in .selfContained(\"" + method + "\").";
    }

    String otherLocks(RepositoryMethod called, List<LockName> locks, List<LockName> open) {
        List<LockName> all =
                Stream.concat(open.stream(), locks.stream()).collect(Collectors.toCollection(TreeSet::new)).stream()
                        .toList();
        return called.name(type) + " under " + quoted(locks) + " refused inside of a unit of " + quoted(open)
                + ": nobody has claimed what it writes. Nothing was called. All locks of a unit are taken together, before its first"
                + " read: " + unit(all, "…");
    }

    private String unit(List<LockName> locks, String body) {
        String names = locks.stream().map(RefusalText::written).collect(Collectors.joining(", "));
        return variable(type) + ".unit(" + (locks.size() == 1 ? names : "List.of(" + names + ")") + ", " + letter()
                + " -> { " + body + " });";
    }

    private String body(RepositoryMethod called, List<LockName> locks) {
        Optional<RepositoryMethod> reading = methods.values().stream()
                .filter(method -> method.kind() == MethodKind.READS
                        && method.method().getReturnType() != void.class
                        && method.method().getParameterCount() > 0)
                .min(Comparator.comparing((RepositoryMethod method) ->
                                !isOneOf(called, method.method().getReturnType()))
                        .thenComparing(method -> method.method().getParameterCount())
                        .thenComparing(method -> MethodPattern.signature(method.method())));
        if (reading.isEmpty()) {
            return "…; " + call(called, Optional.empty()) + ";";
        }
        return "var x = " + call(reading.get(), locks) + "; …; "
                + call(called, Optional.of(reading.get().method().getReturnType())) + ";";
    }

    private static boolean isOneOf(RepositoryMethod called, Class<?> read) {
        return Arrays.asList(called.method().getParameterTypes()).contains(read);
    }

    /** With the key of the one lock, if that is what the method asks for. */
    private String call(RepositoryMethod reading, List<LockName> locks) {
        List<String> key = locks.size() == 1 ? parts(locks.get(0)) : List.of();
        return key.size() == reading.method().getParameterCount()
                ? letter() + "." + reading.method().getName() + "(" + String.join(", ", key) + ")"
                : call(reading, Optional.empty());
    }

    private String call(RepositoryMethod called, Optional<Class<?>> read) {
        return Arrays.stream(called.method().getParameters())
                .map(parameter -> argument(parameter, read))
                .collect(Collectors.joining(
                        ", ", letter() + "." + called.method().getName() + "(", ")"));
    }

    private static String argument(Parameter parameter, Optional<Class<?>> read) {
        if (read.filter(type -> type == parameter.getType() && !type.isPrimitive())
                .isPresent()) {
            return "x";
        }
        return parameter.isNamePresent() ? parameter.getName() : "…";
    }

    private static String written(LockName lock) {
        List<String> parts = parts(lock);
        return parts.isEmpty()
                ? "LockName.parse(\"" + lock + "\")"
                : "LockName.of(\"" + lock.lockClass() + "\", " + String.join(", ", parts) + ")";
    }

    /** The key, as it would be written in Java; empty where that is not plain to see. */
    private static List<String> parts(LockName lock) {
        String canonical = lock.toString();
        if (canonical.indexOf('%') >= 0
                || canonical.length() == lock.lockClass().length()) {
            return List.of();
        }
        String[] parts = canonical.substring(lock.lockClass().length() + 1).split(":", -1);
        return Arrays.stream(parts)
                .map(part -> part.matches("-?(0|[1-9][0-9]{0,8})") ? part : "\"" + part + "\"")
                .toList();
    }

    private static String quoted(List<LockName> locks) {
        return locks.stream().map(lock -> "'" + lock + "'").collect(Collectors.joining(", "));
    }

    private static String variable(Class<?> type) {
        String name = type.getSimpleName();
        return name.substring(0, 1).toLowerCase(Locale.ROOT) + name.substring(1);
    }

    private String letter() {
        return variable(type).substring(0, 1);
    }
}
