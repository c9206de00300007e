package dev.fenceline.jdbc.repository;

import dev.fenceline.FencingToken;
import dev.fenceline.LockName;
import dev.fenceline.Locks;
import dev.fenceline.Work;
import dev.fenceline.jdbc.Claim;
import dev.fenceline.jdbc.PostgresFence;
import dev.fenceline.jdbc.Unit;
import java.sql.Connection;
import java.time.Duration;
import java.util.List;
import java.util.Optional;

/** One delegate for all units, over the data source of the fence. */
record OneDelegate<R>(R delegate, PostgresFence fence, Locks locks, Wiring wiring) implements Delegates<R> {

    OneDelegate(R delegate, PostgresFence fence, Locks locks) {
        this(delegate, fence, locks, new Wiring(delegate.getClass(), fence));
    }

    @Override
    public <T, X extends Exception> T unit(
            List<LockName> names, Optional<Duration> maxWait, Attempt attempt, Body<T, X> body)
            throws X, InterruptedException {
        Unit<Claim<Connection>> unit =
                names.size() == 1 ? fence.unit(locks.fenced(names.get(0))) : fence.unit(locks.fencedAll(names));
        boolean joins = fence.current().isPresent();
        return maxWait.map(unit::waitAtMost).orElse(unit).call(claim -> {
            attempt.begun(claim::mayHaveCommitted);
            // Whoever joins may leave his writes to the end of the unit outside: a flush, or a connection taken late.
            return joins ? body.run() : wiring.watch(claim, body);
        });
    }

    @Override
    public <T, X extends Exception> T use(Work<? super R, T, X> work) throws X {
        return work.with(delegate);
    }

    @Override
    public void called(String name, boolean writes) {
        wiring.called(name, writes);
    }

    @Override
    public void returned() {
        wiring.returned();
    }

    @Override
    public Optional<List<LockName>> open() {
        return fence.current()
                .map(claim -> claim.tokens().stream().map(FencingToken::lock).toList());
    }

    @Override
    public Optional<Class<?>> type() {
        return Optional.of(delegate.getClass());
    }
}
