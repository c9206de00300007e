package dev.fenceline.jdbc.repository;

import dev.fenceline.LockName;
import java.lang.reflect.Array;
import java.lang.reflect.Method;
import java.lang.reflect.Parameter;
import java.math.BigInteger;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** One way to find locks in the arguments of a method. */
interface LockRule {

    /** Finds the locks of one call. */
    interface Finder {
        List<LockName> in(@Nullable Object[] arguments);
    }

    /** How this finds the locks of a method; empty where it does not apply. */
    Optional<Finder> on(Method method, TypeBindings types);

    /** What is wrong with it on a method to which it applies. */
    default Optional<String> misfit(Method method, TypeBindings types) {
        return Optional.empty();
    }

    /** Whether it finds the lock of an argument of a class. */
    default boolean isOf(Class<?> argument) {
        return false;
    }

    /** Whether it finds those of several in one argument. */
    default boolean isOfEach(Class<?> element) {
        return false;
    }

    /** From arguments by name. */
    record ByName(String lockClass, List<String> names) implements LockRule {
        @Override
        public String toString() {
            return names.stream().collect(Collectors.joining("\", \"", "lock(\"" + lockClass + "\", \"", "\")"));
        }

        private static final Set<Class<?>> KEYS =
                Set.of(String.class, Integer.class, Long.class, Short.class, Byte.class, BigInteger.class, UUID.class);

        @Override
        public Optional<Finder> on(Method method, TypeBindings types) {
            return positions(method)
                    .map(positions -> arguments -> List.of(LockName.of(
                            lockClass,
                            positions.stream()
                                    .map(position -> arguments[position])
                                    .toArray())));
        }

        /** Whether a name of a lock can be made of it. */
        static boolean isKey(Class<?> boxed) {
            return KEYS.contains(boxed);
        }

        private Optional<List<Integer>> positions(Method method) {
            List<String> parameters = Arrays.stream(method.getParameters())
                    .map(parameter -> parameter.isNamePresent() ? parameter.getName() : "")
                    .toList();
            return parameters.containsAll(names)
                    ? Optional.of(names.stream().map(parameters::indexOf).toList())
                    : Optional.empty();
        }

        @Override
        public Optional<String> misfit(Method method, TypeBindings types) {
            for (Parameter parameter : method.getParameters()) {
                Class<?> type = types.classOf(parameter.getParameterizedType());
                if (names.contains(parameter.getName()) && !isKey(type)) {
                    return Optional.of("its argument " + parameter.getName() + " is of type " + type.getSimpleName()
                            + ", and a name of a lock is made of strings, whole numbers and UUIDs. Say how: .lock("
                            + type.getSimpleName() + ".class, it -> LockName.of(\"" + lockClass + "\", …))");
                }
            }
            return Optional.empty();
        }
    }

    /** From each argument of a type. */
    record ByType<A>(Class<A> type, Function<? super A, LockName> extractor) implements LockRule {
        @Override
        public String toString() {
            return "lock(" + type.getSimpleName() + ".class, …)";
        }

        @Override
        public boolean isOf(Class<?> argument) {
            return type.isAssignableFrom(argument);
        }

        @Override
        public Optional<Finder> on(Method method, TypeBindings types) {
            List<Integer> positions = new ArrayList<>();
            Parameter[] parameters = method.getParameters();
            for (int i = 0; i < parameters.length; i++) {
                if (type.isAssignableFrom(types.classOf(parameters[i].getParameterizedType()))) {
                    positions.add(i);
                }
            }
            return positions.isEmpty()
                    ? Optional.empty()
                    : Optional.of(arguments -> positions.stream()
                            .map(position ->
                                    extracted(type, extractor, arguments[position], "argument " + (position + 1)))
                            .toList());
        }
    }

    /** From each element of a collection or an array. */
    record ByElement<E>(Class<E> type, Function<? super E, LockName> extractor) implements LockRule {
        @Override
        public String toString() {
            return "lockEach(" + type.getSimpleName() + ".class, …)";
        }

        @Override
        public boolean isOfEach(Class<?> element) {
            return type.isAssignableFrom(element);
        }

        @Override
        public Optional<Finder> on(Method method, TypeBindings types) {
            List<Integer> positions = new ArrayList<>();
            Parameter[] parameters = method.getParameters();
            for (int i = 0; i < parameters.length; i++) {
                if (types.elementOf(parameters[i].getParameterizedType())
                        .filter(type::isAssignableFrom)
                        .isPresent()) {
                    positions.add(i);
                }
            }
            return positions.isEmpty() ? Optional.empty() : Optional.of(arguments -> locks(positions, arguments));
        }

        private List<LockName> locks(List<Integer> positions, @Nullable Object[] arguments) {
            List<LockName> locks = new ArrayList<>();
            for (int position : positions) {
                int at = 0;
                for (Object element : elements(arguments[position], position)) {
                    at++;
                    locks.add(extracted(type, extractor, element, "element " + at + " of argument " + (position + 1)));
                }
            }
            return locks;
        }

        private static Iterable<? extends @Nullable Object> elements(@Nullable Object all, int position) {
            if (all == null) {
                throw new IllegalArgumentException(
                        "No lock can be found: argument " + (position + 1) + " is null. Nothing was called.");
            }
            if (all instanceof Iterable<?> iterable) {
                return iterable;
            }
            List<@Nullable Object> elements = new ArrayList<>();
            for (int i = 0; i < Array.getLength(all); i++) {
                elements.add(Array.get(all, i));
            }
            return elements;
        }
    }

    /** From all arguments of methods that are named. */
    record ByMethod(MethodPattern methods, Function<? super List<Object>, LockName> extractor) implements LockRule {
        @Override
        public String toString() {
            return "lockBy(" + methods + ", …)";
        }

        @Override
        public Optional<Finder> on(Method method, TypeBindings types) {
            return methods.matches(method)
                    ? Optional.of(arguments -> List.of(Objects.requireNonNull(
                            extractor.apply(Arrays.asList(arguments)),
                            "the function of " + this + " returned null, and not the name of a lock")))
                    : Optional.empty();
        }
    }

    private static <A> LockName extracted(
            Class<A> type, Function<? super A, LockName> extractor, @Nullable Object value, String which) {
        if (value == null) {
            throw new IllegalArgumentException("No lock can be found: " + which + " is null, and no "
                    + type.getSimpleName() + ". Nothing was called.");
        }
        return Objects.requireNonNull(
                extractor.apply(type.cast(value)),
                () -> "the function of .lock or .lockEach for " + type.getSimpleName() + " returned null for " + which
                        + ", and not the name of a lock");
    }
}
