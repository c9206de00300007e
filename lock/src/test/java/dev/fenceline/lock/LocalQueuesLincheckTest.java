package dev.fenceline.lock;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayDeque;
import java.util.Deque;
import org.jetbrains.lincheck.LincheckAssertionError;
import org.jetbrains.lincheck.datastructures.IntGen;
import org.jetbrains.lincheck.datastructures.Operation;
import org.jetbrains.lincheck.datastructures.Param;
import org.jetbrains.lincheck.datastructures.StressOptions;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * The queue within one JVM under all interleavings that Lincheck finds: each must be explained by some order of atomic steps
 * on {@link OneLine}. Whoever is told to contend twice, or never, cannot be.
 */
@Tag("torture")
class LocalQueuesLincheckTest {

    private static final int WAITERS = 4;

    @Test
    void everyInterleavingIsAnOrderOfAtomicSteps() {
        thorough().check(Queue.class);
    }

    /** Proof that the test sees: the answer of join is read after the step, when somebody may have moved us to the front. */
    @Test
    void joinThatLooksAtTheFrontAfterItsStepIsCaught() {
        assertThatThrownBy(() -> thorough().check(LooksTooLate.class)).isInstanceOf(LincheckAssertionError.class);
    }

    private static StressOptions thorough() {
        return new StressOptions()
                .iterations(100)
                .invocationsPerIteration(10_000)
                .threads(2)
                .actorsPerThread(3)
                .actorsBefore(2)
                .actorsAfter(1)
                .minimizeFailedScenario(false)
                .sequentialSpecification(OneLine.class);
    }

    /** One lock, with small numbers for those who wait and their leases. A lease has the number of its waiter. */
    @Param(name = "waiter", gen = IntGen.class, conf = "1:" + WAITERS)
    public static class Queue {

        final LocalQueues<String, Integer, Integer> queues = new LocalQueues<>();

        @Operation
        public boolean join(@Param(name = "waiter") int waiter) {
            return queues.join("lock", waiter);
        }

        @Operation
        public boolean granted(@Param(name = "waiter") int waiter) {
            return queues.granted("lock", waiter, waiter);
        }

        @Operation
        public void hold(@Param(name = "waiter") int lease) {
            queues.hold("lock", lease);
        }

        @Operation
        public @Nullable Integer leave(@Param(name = "waiter") int waiter) {
            return queues.leave("lock", waiter);
        }

        @Operation
        public @Nullable Integer ended(@Param(name = "waiter") int lease) {
            return queues.ended("lock", lease);
        }

        @Operation
        public @Nullable Integer contender() {
            return queues.contender("lock");
        }
    }

    public static class LooksTooLate extends Queue {

        @Override
        @Operation
        public boolean join(@Param(name = "waiter") int waiter) {
            boolean unused = queues.join("lock", waiter);
            Integer contender = queues.contender("lock");
            return contender != null && contender == waiter;
        }
    }

    /** What the queue means, for one thread. */
    public static class OneLine {

        private @Nullable Integer contender;
        private @Nullable Integer lease;
        private final Deque<Integer> waiting = new ArrayDeque<>();

        public boolean join(int waiter) {
            if (contender == null && lease == null) {
                contender = waiter;
                return true;
            }
            if (!waiting.contains(waiter)) {
                waiting.add(waiter);
            }
            return false;
        }

        public boolean granted(int waiter) {
            if (contender == null || contender != waiter) {
                return false;
            }
            contender = null;
            lease = waiter;
            return true;
        }

        public void hold(int held) {
            if (contender == null && lease == null) {
                lease = held;
            }
        }

        public @Nullable Integer leave(int waiter) {
            if (contender == null || contender != waiter) {
                waiting.remove(waiter);
                return null;
            }
            contender = waiting.poll();
            return contender;
        }

        public @Nullable Integer ended(int held) {
            if (lease == null || lease != held) {
                return null;
            }
            lease = null;
            contender = waiting.poll();
            return contender;
        }

        public @Nullable Integer contender() {
            return contender;
        }
    }
}
