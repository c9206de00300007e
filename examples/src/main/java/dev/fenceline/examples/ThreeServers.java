package dev.fenceline.examples;

import dev.fenceline.FencedLease;
import dev.fenceline.LockName;
import dev.fenceline.Locks;
import dev.fenceline.lock.Redlock;

/** A lock at a majority of three servers that know nothing of each other. */
final class ThreeServers {

    private ThreeServers() {}

    /** Returns the token of a grant. */
    static long tokenOf(LockName name, String one, String two, String three) throws InterruptedException {
        // snippet: three-servers
        try (Locks locks = Redlock.connect(one, two, three)) { // such as redis://cache-1:6379
            try (FencedLease lease = locks.fenced(name).acquire()) {
                return lease.token().value();
            }
        }
        // end snippet
    }
}
