package dev.fenceline.jdbc.repository;

import dev.fenceline.LockName;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** Says why a call was refused, and shows the unit to be written instead, with the names of the repository at hand. */
record RefusalText(Class<?> type, Map<RepositoryMethod.Signature, RepositoryMethod> methods) {

    /** Of a method that was called by itself, or by a default method of the same. */
    String outsideOfUnit(RepositoryMethod called, List<LockName> locks, @Nullable RepositoryMethod through) {
        String refused = called.name(type) + " under " + quoted(locks)
                + (through == null ? "" : ", called by the default method " + signature(through) + ",")
                + " refused outside of a unit: what it writes was computed from something read before, and whatever was written"
                + " in between would be lost. Nothing was called. ";
        if (through != null) {
            String name = through.method().getName();
            return refused + "If " + signature(through)
                    + " reads, computes and writes all by itself, name it in .selfContained(\""
                    + name + "\"): then one call of it is one unit. Else call it in one: "
                    + unit(locks, letter() + "." + name + (through.method().getParameterCount() == 0 ? "();" : "(…);"));
        }
        String method = called.method().getName();
        return refused + "Put the read and the write into one unit: "
                + unit(
                        locks,
                        new SuggestedUnit(letter(), TypeBindings.of(type)).body(called, methods.values(), key(locks)))
                + " Only if " + method + " reads, computes and writes all by itself, name it in .selfContained(\""
                + method
                + "\").";
    }

    String otherLocks(RepositoryMethod called, List<LockName> locks, List<LockName> open) {
        List<LockName> all =
                Stream.concat(open.stream(), locks.stream()).collect(Collectors.toCollection(TreeSet::new)).stream()
                        .toList();
        return called.name(type) + " under " + quoted(locks) + " refused inside of a unit of " + quoted(open)
                + ": nobody has claimed what it writes. Nothing was called. All locks of a unit are taken together, before its first"
                + " read: " + unit(all, "…");
    }

    /** Outside of a unit there is nothing that would fence the call. */
    String nothingToLock(RepositoryMethod called) {
        return called.name(type)
                + " has nothing to lock: the list whose elements name its locks is empty. Nothing was called."
                + " Leave the call out where there is nothing to write, or make it inside of a unit, where it passes.";
    }

    private static String signature(RepositoryMethod method) {
        return MethodPattern.signature(method.method());
    }

    private String unit(List<LockName> locks, String body) {
        String names = locks.stream().map(RefusalText::written).collect(Collectors.joining(", "));
        return variable(type) + ".unit(" + (locks.size() == 1 ? names : "List.of(" + names + ")") + ", " + letter()
                + " -> { " + body + " });";
    }

    private static List<String> key(List<LockName> locks) {
        return locks.size() == 1 ? parts(locks.get(0)) : List.of();
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
