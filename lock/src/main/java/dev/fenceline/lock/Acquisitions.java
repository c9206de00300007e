package dev.fenceline.lock;

import dev.fenceline.FencelineEvent.AcquireOutcome;
import dev.fenceline.lock.LockTransport.ReleaseReply;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;

/** What those who wait with a thread and those who wait with a future do with an {@link Acquisition}. */
final class Acquisitions {

    private Acquisitions() {}

    static AcquireOutcome told(Acquisition.Outcome outcome) {
        if (outcome instanceof Acquisition.Outcome.Granted) {
            return AcquireOutcome.ACQUIRED;
        }
        return outcome instanceof Acquisition.Outcome.Failed ? AcquireOutcome.FAILED : AcquireOutcome.NOT_ACQUIRED;
    }

    /** The answer and the end of the wait may cross; then there is a lease, and nobody else will release it. */
    static void giveBack(Acquisition.Outcome outcome) {
        if (outcome instanceof Acquisition.Outcome.Granted granted) {
            RedisLease lease = granted.lease();
            // No work began under it that would have to be done once only.
            lease.keepAtLeast(Duration.ZERO);
            CompletableFuture<ReleaseReply> acknowledged = lease.startClosing();
            if (acknowledged != null) {
                var unused = acknowledged.whenComplete((reply, thrown) -> {
                    if (thrown != null) {
                        lease.releaseFailed(SendFailure.of(thrown));
                    }
                });
            }
        }
    }
}
