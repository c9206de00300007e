package dev.fenceline.lock;

import dev.fenceline.EfficiencyLock;
import dev.fenceline.FencedLock;
import dev.fenceline.FencedLocks;
import dev.fenceline.LockName;
import dev.fenceline.Locks;
import java.util.Collection;

/** Closes locks when the JVM ends, so that SIGTERM does not leave others waiting for the lease time. */
final class HookedLocks implements Locks {

    private final Locks locks;
    private final Thread hook;

    private HookedLocks(Locks locks) {
        this.locks = locks;
        this.hook = new Thread(locks::close, "fenceline-lock-shutdown");
    }

    static Locks of(Locks locks) {
        HookedLocks hooked = new HookedLocks(locks);
        Runtime.getRuntime().addShutdownHook(hooked.hook);
        return hooked;
    }

    @Override
    public FencedLock fenced(LockName name) {
        return locks.fenced(name);
    }

    @Override
    public FencedLocks fencedAll(Collection<LockName> names) {
        return locks.fencedAll(names);
    }

    @Override
    public EfficiencyLock efficiency(LockName name) {
        return locks.efficiency(name);
    }

    @Override
    public void close() {
        locks.close();
        try {
            // Else the hook would keep these locks in memory for the life of the process.
            boolean unused = Runtime.getRuntime().removeShutdownHook(hook);
        } catch (IllegalStateException e) {
            // The JVM is ending: the hook runs, and finds the locks closed.
        }
    }
}
