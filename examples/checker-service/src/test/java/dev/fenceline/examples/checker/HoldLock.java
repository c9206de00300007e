package dev.fenceline.examples.checker;

import dev.fenceline.FencedLease;
import dev.fenceline.LockName;
import dev.fenceline.Locks;
import dev.fenceline.lock.RedisLocks;

/** Holds the lock of an account and prints its token for curl, until a line is read or the input ends. */
final class HoldLock {

    private HoldLock() {}

    public static void main(String[] args) throws Exception {
        if (args.length != 2) {
            System.out.println("Usage: HoldLock REDIS-URI ACCOUNT, such as redis://localhost:6379 42");
            System.exit(2);
        }
        try (Locks locks = RedisLocks.connect(args[0]);
                FencedLease lease = locks.fenced(LockName.of("account", Long.parseLong(args[1])))
                        .acquire()) {
            System.out.println(lease.token().encode());
            System.in.read();
        }
    }
}
