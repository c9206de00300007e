package dev.fenceline.testkit;

import dev.fenceline.LockOptions;
import dev.fenceline.Locks;
import java.time.Duration;

/** The contract of locks over a model with a flaw, which {@link ContractsSeeFlawsTest} chooses and runs. */
final class FlawedLocks extends LockContract {

    static volatile ModelServer.Flaw flaw = ModelServer.Flaw.NONE;

    private final ModelServer server = new ModelServer(flaw);

    @Override
    Duration limit() {
        return Duration.ofSeconds(3); // what must happen and does not is the point here
    }

    @Override
    protected Locks connect(LockOptions options) {
        return new ModelLocks(server, options);
    }
}
