package dev.fenceline.jdbc.repository;

import dev.fenceline.LockName;
import dev.fenceline.LockNotAcquiredException;
import dev.fenceline.UnfencedWriteException;
import java.lang.invoke.MethodHandle;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.Method;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** What happens when a method of the proxy is called: the rule of that method. */
final class RepositoryCalls<R> implements InvocationHandler {

    private final Class<R> type;
    private final Delegates<R> delegates;
    private final UnitSettings settings;
    private final Map<RepositoryMethod.Signature, RepositoryMethod> methods;
    private final RepositoryUnits<R> units;

    // One for each repository, and only while a default method runs: the outermost.
    @SuppressWarnings("ThreadLocalUsage")
    private final ThreadLocal<@Nullable RepositoryMethod> through = new ThreadLocal<>();

    RepositoryCalls(
            Class<R> type,
            Delegates<R> delegates,
            UnitSettings settings,
            Map<RepositoryMethod.Signature, RepositoryMethod> methods) {
        this.type = type;
        this.delegates = delegates;
        this.settings = settings;
        this.methods = methods;
        this.units = new RepositoryUnits<>(delegates, settings);
    }

    FencedRepository<R> repository(R proxy) {
        return new FencedRepository<>(delegates, settings, proxy);
    }

    @Override
    public @Nullable Object invoke(Object proxy, Method method, @Nullable Object @Nullable [] given) throws Throwable {
        @Nullable Object[] arguments = given == null ? new Object[0] : given;
        if (method.getDeclaringClass() == Object.class) {
            return switch (method.getName()) {
                case "equals" -> proxy == arguments[0];
                case "hashCode" -> System.identityHashCode(proxy);
                default -> "FencedRepository of " + type.getSimpleName();
            };
        }
        RepositoryMethod called = methods.get(RepositoryMethod.Signature.of(method));
        if (called == null) {
            throw new IllegalStateException(type.getSimpleName() + " has a method without a rule: " + method);
        }
        try {
            return called.body().isPresent()
                    ? byDefault(called, called.body().get(), proxy, arguments)
                    : byRule(called, arguments);
        } catch (RuntimeException | Error e) {
            throw e;
        } catch (Throwable checked) {
            if (called.declares(checked)) {
                throw checked;
            }
            throw new IllegalStateException(
                    called.name(type) + " threw " + checked
                            + ", which it does not declare, and a proxy cannot pass that on." + " Declare it there.",
                    checked);
        }
    }

    /** What it calls comes back to this proxy; a refusal there is to name what the caller has called. */
    private @Nullable Object byDefault(
            RepositoryMethod called, MethodHandle body, Object proxy, @Nullable Object[] arguments) {
        RepositoryMethod outer = through.get();
        if (outer == null) {
            through.set(called);
        }
        try {
            return RepositoryMethod.run(body, proxy, arguments);
        } finally {
            if (outer == null) {
                through.remove();
            }
        }
    }

    private @Nullable Object byRule(RepositoryMethod called, @Nullable Object[] arguments) throws InterruptedException {
        if (!called.kind().needsLocks()) {
            return use(called, arguments);
        }
        List<LockName> locks = called.locks(arguments);
        Optional<List<LockName>> open = delegates.open();
        if (locks.isEmpty()) {
            if (open.isEmpty()) {
                throw new IllegalArgumentException(new RefusalText(type, methods).nothingToLock(called));
            }
            // Fenced by the unit, whatever it does; there is nothing that it could take a connection for.
            return delegates
                    .<Optional<Object>, RuntimeException>use(
                            delegate -> Optional.ofNullable(called.call(delegate, arguments)))
                    .orElse(null);
        }
        settings.requireNotTooMany(locks, called.name(type));
        if (open.isPresent() && !open.get().containsAll(locks)) {
            throw new UnfencedWriteException(
                    new RefusalText(type, methods).otherLocks(called, locks, open.get()), null);
        }
        if (called.kind().opensUnit()) {
            return inUnit(called, arguments, locks);
        }
        if (open.isEmpty()) {
            throw new UnfencedWriteException(
                    new RefusalText(type, methods).outsideOfUnit(called, locks, through.get()), null);
        }
        return use(called, arguments);
    }

    private @Nullable Object use(RepositoryMethod called, @Nullable Object[] arguments) {
        Optional<Object> result = delegates.use(delegate -> Optional.ofNullable(called.call(delegate, arguments)));
        delegates.called(MethodPattern.signature(called.method()), called.kind() != MethodKind.READS);
        return result.orElse(null);
    }

    private @Nullable Object inUnit(RepositoryMethod called, @Nullable Object[] arguments, List<LockName> locks)
            throws InterruptedException {
        Set<Throwable> thrownWithin = new HashSet<>();
        try {
            return units.<Optional<Object>, RuntimeException>run(locks, () -> {
                        try {
                            return Optional.ofNullable(use(called, arguments));
                        } catch (Throwable thrown) {
                            thrownWithin.add(thrown);
                            throw thrown;
                        }
                    })
                    .orElse(null);
        } catch (InterruptedException e) {
            if (thrownWithin.contains(e) || called.declares(e)) {
                throw e;
            }
            // The method cannot say it, and its caller is to find out as he always would.
            Thread.currentThread().interrupt();
            throw LockNotAcquiredException.interrupted(locks.get(0), e);
        }
    }
}
