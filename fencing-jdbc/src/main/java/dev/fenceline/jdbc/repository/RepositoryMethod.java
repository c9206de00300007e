package dev.fenceline.jdbc.repository;

import dev.fenceline.LockName;
import java.lang.invoke.MethodHandle;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/**
 * A method of the repository's type, and what its calls need.
 *
 * @param method as the type declares it
 * @param kind what it may do
 * @param finders where its locks are found
 * @param body its own code, if calls of it run that and not the delegate's
 */
record RepositoryMethod(Method method, MethodKind kind, List<LockRule.Finder> finders, Optional<MethodHandle> body) {

    /** What a caller may say instead of a method. */
    record Signature(String name, List<Class<?>> parameters) {

        static Signature of(Method method) {
            return new Signature(method.getName(), List.of(method.getParameterTypes()));
        }
    }

    /** The locks that a call needs, in the order in which everybody takes them, each once. */
    List<LockName> locks(@Nullable Object[] arguments) {
        TreeSet<LockName> locks = new TreeSet<>();
        finders.forEach(finder -> locks.addAll(finder.in(arguments)));
        return new ArrayList<>(locks);
    }

    /** Calls the delegate. What that throws comes out as it is. */
    @Nullable Object call(Object delegate, @Nullable Object[] arguments) {
        try {
            return method.invoke(delegate, arguments);
        } catch (InvocationTargetException e) {
            throw Thrown.unchanged(e.getTargetException());
        } catch (IllegalAccessException e) {
            throw new IllegalStateException("Method " + method + " was accessible when the repository was built", e);
        }
    }

    /** Runs the method's own code on the proxy, so that the methods which it calls are called by the rules. */
    static @Nullable Object run(MethodHandle body, Object proxy, @Nullable Object[] arguments) {
        try {
            return body.invoke(proxy, arguments);
        } catch (Throwable thrown) {
            throw Thrown.unchanged(thrown);
        }
    }

    /** Whether a caller reckons with exceptions of this type. */
    boolean declares(Throwable thrown) {
        return Arrays.stream(method.getExceptionTypes()).anyMatch(type -> type.isInstance(thrown));
    }

    /** For messages: {@code Accounts.save(Account)}. */
    String name(Class<?> type) {
        return type.getSimpleName() + "." + MethodPattern.signature(method);
    }
}
