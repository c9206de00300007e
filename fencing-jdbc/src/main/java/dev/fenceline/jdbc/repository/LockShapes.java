package dev.fenceline.jdbc.repository;

import dev.fenceline.LockName;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/**
 * How many parts the locks of a class have. All locks that are to keep each other out have as many: {@code account:1:2} is another lock
 * than {@code account:1}, and who holds the one is not kept out by the other. What {@code lockBy} names is somebody's own words.
 */
final class LockShapes {

    private final Map<String, LockRule.ByName> first = new LinkedHashMap<>();
    private final List<String> contradictions = new ArrayList<>();

    LockShapes(List<LockRule> rules) {
        for (LockRule rule : rules) {
            if (rule instanceof LockRule.ByName named) {
                LockRule.ByName known = first.putIfAbsent(named.lockClass(), named);
                if (known != null && parts(known) != parts(named)) {
                    contradictions.add(contradiction(known, named));
                }
            }
        }
    }

    /** What the rules that name arguments say against each other. */
    List<String> contradictions() {
        return contradictions;
    }

    private static int parts(LockRule.ByName rule) {
        return rule.names().size();
    }

    private static int parts(LockName lock) {
        return (int) lock.toString().chars().filter(each -> each == ':').count();
    }

    private static String contradiction(LockRule.ByName one, LockRule.ByName other) {
        LockRule.ByName shorter = parts(one) < parts(other) ? one : other;
        LockRule.ByName longer = shorter.equals(one) ? other : one;
        return shorter + " and " + longer + " name locks of one class with " + parts(shorter) + " and with "
                + parts(longer) + " parts, and " + example(longer) + " keeps out nobody who holds " + example(shorter)
                + ". " + advice(longer);
    }

    private static String example(LockRule.ByName rule) {
        return IntStream.rangeClosed(1, parts(rule))
                .mapToObj(part -> ":" + part)
                .collect(Collectors.joining("", rule.lockClass(), ""));
    }

    private static String advice(LockRule.ByName longer) {
        return "For several locks of a call chain them: "
                + longer.names().stream()
                        .map(name -> ".lock(\"" + longer.lockClass() + "\", \"" + name + "\")")
                        .collect(Collectors.joining())
                + "; for one key of several parts take a class of its own";
    }

    /** Has what a function names looked at when it is called; nobody knows before. */
    LockRule.Finder watched(LockRule rule, LockRule.Finder finder) {
        return rule instanceof LockRule.ByType || rule instanceof LockRule.ByElement
                ? arguments -> {
                    List<LockName> locks = finder.in(arguments);
                    locks.forEach(lock -> requireKnownShape(rule, lock));
                    return locks;
                }
                : finder;
    }

    private void requireKnownShape(LockRule rule, LockName lock) {
        LockRule.ByName known = first.get(lock.lockClass());
        if (known != null && parts(known) != parts(lock)) {
            throw new IllegalArgumentException("Lock '" + lock + "' of " + rule + " refused: " + known
                    + " names locks of one class with " + counted(parts(known)) + ", this one has " + parts(lock)
                    + ", and the one keeps out nobody who holds the other. Nothing was called. "
                    + (parts(known) > 1 ? advice(known) : "Take as many parts in both, or a class of its own") + ".");
        }
    }

    private static String counted(int parts) {
        return parts + (parts == 1 ? " part" : " parts");
    }
}
