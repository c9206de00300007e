package dev.fenceline.jdbc.repository;

import dev.fenceline.FencingToken;
import dev.fenceline.LockName;
import dev.fenceline.Locks;
import dev.fenceline.Work;
import dev.fenceline.jdbc.JdbiFence;
import dev.fenceline.jdbc.Unit;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;
import org.jdbi.v3.core.Handle;
import org.jdbi.v3.core.extension.Extensions;
import org.jspecify.annotations.Nullable;

/** A delegate for each handle: one as long as a unit lasts, and one for each call outside of units. */
final class DelegateOfHandle<R> implements Delegates<R> {

    private record Attached<R>(Handle handle, R delegate) {}

    private final Function<Handle, ? extends R> attaching;
    private final Optional<Class<?>> extension;
    private final JdbiFence fence;
    private final Locks locks;

    // One for each repository. What is in it goes when the handle is closed, which is on the thread that used it.
    @SuppressWarnings("ThreadLocalUsage")
    private final ThreadLocal<@Nullable Attached<R>> attached = new ThreadLocal<>();

    private DelegateOfHandle(
            Function<Handle, ? extends R> attaching, Optional<Class<?>> extension, JdbiFence fence, Locks locks) {
        this.attaching = attaching;
        this.extension = extension;
        this.fence = fence;
        this.locks = locks;
    }

    static <R> DelegateOfHandle<R> made(Function<Handle, ? extends R> attaching, JdbiFence fence, Locks locks) {
        return new DelegateOfHandle<>(attaching, Optional.empty(), fence, locks);
    }

    static <R> DelegateOfHandle<R> extension(Class<? extends R> type, JdbiFence fence, Locks locks) {
        return new DelegateOfHandle<>(handle -> handle.attach(type), Optional.of(type), fence, locks);
    }

    @Override
    public <T, X extends Exception> T unit(
            List<LockName> names, Optional<Duration> maxWait, Attempt attempt, Body<T, X> body)
            throws X, InterruptedException {
        Unit<Handle> unit =
                names.size() == 1 ? fence.unit(locks.fenced(names.get(0))) : fence.unit(locks.fencedAll(names));
        return maxWait.map(unit::waitAtMost).orElse(unit).call(handle -> {
            // All of it is one transaction, so what fails has committed nothing.
            attempt.begun(() -> false);
            return body.run();
        });
    }

    @Override
    public <T, X extends Exception> T use(Work<? super R, T, X> work) throws X {
        Optional<Handle> handle = fence.handle();
        return handle.isPresent()
                ? work.with(attachedTo(handle.get()))
                : fence.jdbi().withHandle(outside -> work.with(attaching.apply(outside)));
    }

    private R attachedTo(Handle handle) {
        Attached<R> present = attached.get();
        if (present != null && present.handle.equals(handle)) {
            return present.delegate;
        }
        R delegate = attaching.apply(handle);
        attached.set(new Attached<>(handle, delegate));
        handle.addCleanable(attached::remove);
        return delegate;
    }

    @Override
    public Optional<List<LockName>> open() {
        return fence.current()
                .map(claim -> claim.tokens().stream().map(FencingToken::lock).toList());
    }

    @Override
    public Optional<Class<?>> type() {
        return Optional.empty();
    }

    @Override
    public Optional<String> misfit() {
        return extension
                .filter(type -> !fence.jdbi().getConfig(Extensions.class).hasExtensionFor(type))
                .map(type -> "nothing in this Jdbi can attach " + type.getSimpleName()
                        + " to a handle: call jdbi.installPlugin(new SqlObjectPlugin()), and annotate its methods with"
                        + " @SqlQuery and @SqlUpdate");
    }
}
