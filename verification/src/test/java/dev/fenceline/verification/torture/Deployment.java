package dev.fenceline.verification.torture;

import dev.fenceline.testkit.RedisProcess;
import dev.fenceline.testkit.RedisServer;
import java.time.Duration;
import java.util.List;
import java.util.Set;

/** The servers of a run, and what happens to them. */
interface Deployment {

    Access access();

    /** Everything that a client may connect to. */
    List<RedisServer> endpoints();

    /** Those that hold data, masters and replicas. */
    List<RedisProcess> servers();

    /** Those of them that take writes now. */
    List<RedisProcess> masters();

    /** In the order in which they happen. */
    List<Fault> faults(Pace pace);

    /** Lets time pass; fails if a process of the run ends meanwhile. */
    interface Pace {
        void hold(Duration duration);
    }

    /**
     * Something that goes wrong.
     *
     * @param strike returns when the service can be used again
     * @param settle brings everything back into the order that the next fault needs
     * @param masters how many servers take writes for one lock until then
     * @param spared the processes that go on meanwhile; none where servers are struck
     */
    record Fault(String name, Runnable strike, Runnable settle, Outage.Masters masters, Set<String> spared) {

        Fault(String name, Runnable strike) {
            this(name, strike, () -> {});
        }

        Fault(String name, Runnable strike, Runnable settle) {
            this(name, strike, settle, Outage.Masters.ONE, Set.of());
        }
    }
}
