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

    /** What tells where the master is, if anything does. */
    default List<? extends RedisServer> sentinels() {
        return List.of();
    }

    /** Those of the servers that take writes now. */
    List<RedisProcess> masters();

    /** On how many of the servers each process listens. */
    default int subscriptions() {
        return 1;
    }

    /** What stays in the data when nobody holds a lock, behind the prefix and the version. */
    default String keysThatStay() {
        return "\\{b[0-9]+}:(counter|boot)";
    }

    /** What is promised. */
    default JournalCheck.Bounds bounds() {
        return Clients.bounds();
    }

    /** In the order in which they happen. */
    List<Fault> faults(Pace pace);

    /** Lets time pass; fails if a process of the run ends meanwhile. */
    interface Pace {
        void hold(Duration duration);
    }

    /**
     * Something that goes wrong.
     *
     * @param strike returns when the service could be used again: some server would grant, and clients can learn which
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
