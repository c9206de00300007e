package dev.fenceline.jdbc.repository;

import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.lang.reflect.Parameter;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;

/**
 * Which rule is for which method of a type. Whatever does not fit together is told when the repository is built, and all of it at
 * once: a method that is found to have no lock by the first call would be found in production.
 */
final class MethodRules {

    private static final Set<String> OF_OBJECT = Set.of("equals", "hashCode", "toString");

    private final Class<?> type;
    private final Delegates<?> delegates;
    private final List<LockRule> lockRules;
    private final Map<MethodPattern, MethodKind> kinds;
    private final TypeBindings types;
    private final LockShapes shapes;
    private final List<String> problems = new ArrayList<>();

    MethodRules(Class<?> type, Delegates<?> delegates, List<LockRule> lockRules, Map<MethodPattern, MethodKind> kinds) {
        this.type = type;
        this.delegates = delegates;
        this.lockRules = lockRules;
        this.kinds = kinds;
        this.types = TypeBindings.of(type);
        this.shapes = new LockShapes(lockRules);
    }

    /**
     * Finds the rules of all methods.
     *
     * @throws IllegalArgumentException when something is missing or contradictory; the message names all of it
     */
    Map<RepositoryMethod.Signature, RepositoryMethod> methods() {
        delegates.misfit().ifPresent(problems::add);
        problems.addAll(shapes.contradictions());
        List<Method> declared = declared();
        requirePatternsToMatch(declared);
        Map<RepositoryMethod.Signature, RepositoryMethod> methods = new LinkedHashMap<>();
        declared.forEach(method -> methods.put(RepositoryMethod.Signature.of(method), ruled(method)));
        if (!problems.isEmpty()) {
            throw new IllegalArgumentException(problems.stream()
                    .collect(Collectors.joining(
                            "\n- ", "FencedRepository of " + type.getSimpleName() + " cannot be built:\n- ", "")));
        }
        methods.putAll(bridges(methods));
        return methods;
    }

    /** One of each signature, the most special where a method is inherited and declared anew. */
    private List<Method> declared() {
        Map<RepositoryMethod.Signature, Method> methods = new HashMap<>();
        for (Method method : type.getMethods()) {
            if (Modifier.isStatic(method.getModifiers()) || method.isBridge() || isOfObject(method)) {
                continue;
            }
            methods.merge(
                    RepositoryMethod.Signature.of(method),
                    method,
                    (one, other) -> one.getDeclaringClass().isAssignableFrom(other.getDeclaringClass()) ? other : one);
        }
        return methods.values().stream()
                .filter(method -> methods.values().stream().noneMatch(other -> isDeclaredAnewBy(method, other)))
                .sorted(Comparator.comparing(MethodPattern::signature))
                .toList();
    }

    private static boolean isOfObject(Method method) {
        return OF_OBJECT.contains(method.getName())
                && Arrays.stream(Object.class.getMethods())
                        .anyMatch(of -> of.getName().equals(method.getName())
                                && Arrays.equals(of.getParameterTypes(), method.getParameterTypes()));
    }

    /** Whether {@code Crud.save(T)} is what {@code Accounts.save(Account)} declares, with other classes in its signature. */
    private boolean isDeclaredAnewBy(Method method, Method other) {
        return method.getName().equals(other.getName())
                && method.getDeclaringClass() != other.getDeclaringClass()
                && method.getDeclaringClass().isAssignableFrom(other.getDeclaringClass())
                && parameters(method).equals(parameters(other));
    }

    private List<Class<?>> parameters(Method method) {
        return Arrays.stream(method.getGenericParameterTypes())
                .<Class<?>>map(types::classOf)
                .toList();
    }

    /** What a caller may call that is another method of the same: by an inherited signature, whose classes are wider. */
    private Map<RepositoryMethod.Signature, RepositoryMethod> bridges(
            Map<RepositoryMethod.Signature, RepositoryMethod> methods) {
        Map<RepositoryMethod.Signature, RepositoryMethod> bridges = new HashMap<>();
        for (Method method : type.getMethods()) {
            RepositoryMethod.Signature signature = RepositoryMethod.Signature.of(method);
            if (!Modifier.isStatic(method.getModifiers()) && !methods.containsKey(signature)) {
                methods.values().stream()
                        .filter(target -> target.method().getName().equals(method.getName())
                                && (method.isBridge()
                                        ? isWider(method, target.method())
                                        : parameters(method).equals(parameters(target.method()))))
                        .findFirst()
                        .ifPresent(target -> bridges.put(signature, target));
            }
        }
        return bridges;
    }

    private static boolean isWider(Method bridge, Method target) {
        Class<?>[] wide = bridge.getParameterTypes();
        Class<?>[] narrow = target.getParameterTypes();
        if (wide.length != narrow.length) {
            return false;
        }
        for (int i = 0; i < wide.length; i++) {
            if (!wide[i].isAssignableFrom(narrow[i])) {
                return false;
            }
        }
        return true;
    }

    private void requirePatternsToMatch(List<Method> declared) {
        kinds.forEach((pattern, kind) -> {
            if (declared.stream().noneMatch(pattern::matches)) {
                problems.add(kind.rule() + "(" + pattern + ") matches no method; there are " + names(declared));
            }
        });
        for (LockRule rule : lockRules) {
            if (declared.stream().noneMatch(method -> rule.on(method, types).isPresent())
                    && !(rule instanceof LockRule.ByName && declared.stream().anyMatch(MethodRules::isNameless))) {
                problems.add(rule + " finds a lock in no method; there are " + names(declared));
            }
        }
    }

    private static String names(List<Method> declared) {
        return declared.stream().map(MethodPattern::signature).collect(Collectors.joining(", "));
    }

    private RepositoryMethod ruled(Method method) {
        Set<MethodKind> rules = new TreeSet<>();
        kinds.forEach((pattern, kind) -> {
            if (pattern.matches(method)) {
                rules.add(kind);
            }
        });
        if (rules.size() > 1) {
            problem(
                    method,
                    "is named by several rules, "
                            + rules.stream().map(MethodKind::rule).collect(Collectors.joining(" and "))
                            + ", and only one can be true");
        }
        if (!method.trySetAccessible()) {
            problem(method, "cannot be called from here: make the interface public, or open its package");
        }
        if (LateResults.isLate(types.classOf(method.getGenericReturnType()))) {
            problem(
                    method,
                    "returns " + method.getReturnType().getSimpleName()
                            + ", whose content is read or written after the method has returned, and so outside of its unit. Return a"
                            + " list or a value, or take a function that is called with each row");
        }
        Optional<MethodHandle> body = rules.isEmpty() ? ownBody(method) : Optional.empty();
        if (body.isPresent()) {
            return new RepositoryMethod(method, MethodKind.THROUGH_THE_OTHERS, List.of(), body);
        }
        MethodKind kind = rules.stream().findFirst().orElse(MethodKind.IN_UNIT);
        List<LockRule.Finder> finders = kind.needsLocks() ? finders(method) : List.of();
        return new RepositoryMethod(method, kind, finders, Optional.empty());
    }

    private List<LockRule.Finder> finders(Method method) {
        List<LockRule> applying = lockRules.stream()
                .filter(rule -> rule.on(method, types).isPresent())
                .toList();
        List<LockRule> named = applying.stream()
                .filter(rule -> rule instanceof LockRule.ByMethod)
                .toList();
        List<LockRule> used = named.isEmpty() ? applying : named;
        used.forEach(rule -> rule.misfit(method, types).ifPresent(misfit -> problem(method, misfit)));
        if (used.isEmpty()) {
            problem(method, "has no lock: " + howToFindOne(method));
        } else if (named.isEmpty()) {
            unlockedElements(method).ifPresent(element -> problem(method, element));
        }
        return used.stream()
                .map(rule -> shapes.watched(rule, rule.on(method, types).orElseThrow()))
                .toList();
    }

    /** A rule for an account finds none in a list of accounts, and some of the locks of a call protect no more than none. */
    private Optional<String> unlockedElements(Method method) {
        return Arrays.stream(method.getGenericParameterTypes())
                .flatMap(parameter -> types.elementOf(parameter).stream())
                .filter(element -> lockRules.stream().anyMatch(rule -> rule.isOf(element)))
                .filter(element -> lockRules.stream().noneMatch(rule -> rule.isOfEach(element)))
                .findFirst()
                .map(element -> "has several " + element.getSimpleName()
                        + " in one argument, and the locks of these are found by no rule: .lockEach("
                        + element.getSimpleName() + ".class, it -> LockName.of(…)), or .lockBy(\"" + method.getName()
                        + "\", arguments -> LockName.of(…)) for one lock of all");
    }

    private String howToFindOne(Method method) {
        Optional<String> element = Arrays.stream(method.getGenericParameterTypes())
                .flatMap(parameter -> types.elementOf(parameter).stream())
                .map(each -> ".lockEach(" + each.getSimpleName() + ".class, it -> LockName.of(…))")
                .findFirst();
        boolean byName = lockRules.stream().anyMatch(rule -> rule instanceof LockRule.ByName);
        if (byName && isNameless(method) && !keys(method).isEmpty()) {
            return "the names of its arguments are not in the class file. Compile "
                    + method.getDeclaringClass().getSimpleName()
                    + " with -parameters (Maven: <maven.compiler.parameters>true, Gradle: options.compilerArgs.add(\"-parameters\")),"
                    + " or say where its lock is: "
                    + element.map(each -> each + " or ").orElse("") + ".lockBy(\"" + method.getName()
                    + "\", arguments -> LockName.of(…, arguments.get(0)))";
        }
        return "no rule finds one in its arguments. If it writes nothing, .reads(\"" + method.getName() + "\"); else "
                + element.or(() -> chain(method)).orElse(".lock(…)")
                + " or .lockBy(\"" + method.getName() + "\", arguments -> LockName.of(…))";
    }

    /** Several arguments that may each be the key of a lock are several locks, not one lock of several parts. */
    private Optional<String> chain(Method method) {
        List<Parameter> keys = keys(method);
        List<String> names = keys.stream()
                .filter(key -> key.getType() == keys.get(0).getType() && key.isNamePresent())
                .map(Parameter::getName)
                .toList();
        return names.size() < 2
                ? Optional.empty()
                : Optional.of(
                        ".lock(…, \"" + names.get(0) + "\"), for several locks chained, .lock(…, \"" + names.get(0)
                                + "\").lock(…, \"" + names.get(1) + "\"), since .lock(…, \"" + names.get(0) + "\", \""
                                + names.get(1)
                                + "\") is one lock, which keeps out nobody who holds one of these;");
    }

    private List<Parameter> keys(Method method) {
        return Arrays.stream(method.getParameters())
                .filter(each -> LockRule.ByName.isKey(types.classOf(each.getParameterizedType())))
                .toList();
    }

    private static boolean isNameless(Method method) {
        return method.getParameterCount() > 0
                && Arrays.stream(method.getParameters()).noneMatch(Parameter::isNamePresent);
    }

    /**
     * The code of a default method, where it is certain that the repository has no other. It runs on the proxy, so that each method that it
     * calls is called by the rules. What is attached to a handle may have another, and Jdbi adds to it, and so it needs a rule.
     */
    private Optional<MethodHandle> ownBody(Method method) {
        Optional<Class<?>> delegate = delegates.type();
        if (!method.isDefault() || delegate.isEmpty()) {
            return Optional.empty();
        }
        try {
            Method called = delegate.get().getMethod(method.getName(), method.getParameterTypes());
            if (!called.getDeclaringClass().equals(method.getDeclaringClass())) {
                return Optional.empty();
            }
            Class<?> declaring = method.getDeclaringClass();
            return Optional.of(MethodHandles.privateLookupIn(declaring, MethodHandles.lookup())
                    .unreflectSpecial(method, declaring)
                    .asFixedArity()
                    .asSpreader(Object[].class, method.getParameterCount()));
        } catch (ReflectiveOperationException inaccessible) {
            return Optional.empty();
        }
    }

    private void problem(Method method, String what) {
        problems.add(MethodPattern.signature(method) + " " + what);
    }
}
