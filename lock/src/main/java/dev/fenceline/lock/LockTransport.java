package dev.fenceline.lock;

import java.time.Duration;
import java.util.UUID;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/**
 * The three steps on a lock server, each one atomic there. Every stage ends within one command timeout, a grant
 * that waits for replicas within two, and fails with {@link SendFailure} only. A command is sent at most once by each call, and never again after a reconnect.
 */
interface LockTransport {

    /** Names the server in messages, without credentials. */
    String server();

    /** Names whoever an answer is missing from, as far as that is known. */
    default String silent() {
        return server();
    }

    /** Asks for a full lease. Idempotent by holder: the same holder is granted the same token. */
    CompletionStage<AcquireReply> acquire(LockKey lock, AcquireRequest request);

    /** Asks for a full lease from now; never makes a lock that is gone. */
    CompletionStage<RenewReply> renew(LockKey lock, UUID holder);

    /**
     * Takes a holder out of the queue, and the lock from it if it has it; a free lock goes to the next who waits.
     *
     * @param keep leaves a lock of this holder to nobody for so long instead: not its own any more, and nobody else's yet
     */
    CompletionStage<ReleaseReply> release(LockKey lock, UUID holder, Duration keep);

    /** Has somebody hear that something has changed for these locks, on a thread of the network that must not be held up. */
    void listen(Hints hints);

    /** Tells whether messages that are sent now are heard, as far as this side can know. */
    boolean listening();

    /** Disconnects. Commands fail from now on. */
    void close(Duration limit);

    /**
     * A request for a lock.
     *
     * @param holder who asks
     * @param floor the token must be above it; 0 where nothing has to be passed
     * @param patience whether to enter the queue where the lock is taken
     * @param predecessor whose lock, or whose place in the queue, comes to this holder
     */
    record AcquireRequest(
            UUID holder,
            long floor,
            Acquisition.Patience patience,
            @Nullable Predecessor predecessor) {}

    /** A holder of this client that ends with the request of its successor. */
    record Predecessor(UUID holder, Passing passing) {}

    /** Whether a lock that the predecessor holds comes to the successor before other clients that wait. */
    enum Passing {
        BEFORE_OTHERS,
        IN_TURN
    }

    /** Hears that it may be worth asking. Nothing is certain of a message: it can be late, lost, doubled or forged. */
    interface Hints {

        /** A message came. */
        void heard(String message);

        /** Messages are heard from now on; those of a time before may have been missed. */
        void subscribed();
    }

    /** What a server says to a request for a lease. Times are microseconds. */
    sealed interface AcquireReply {

        /** Granted, or granted before to the same holder. The token of an efficiency lock is 0. */
        record Granted(long token) implements AcquireReply {}

        /** Somebody else has it. The value tells who; the time to live is negative if it never ends. */
        record Held(@Nullable LockValue by, long ttlMillis) implements AcquireReply {}

        /**
         * Somebody else has it, or asks for it at the same time, and nobody will be told when it is free: ask again after a random
         * time.
         */
        record Busy(@Nullable LockValue by) implements AcquireReply {}

        /** The counter is further ahead of the server's clock than S allows; nothing is granted for so long. */
        record Wait(long micros, long counter, long serverTime) implements AcquireReply {}

        /** The server is a new one, or lost its data, and grants nothing until the restart delay is over. */
        record Reborn(long micros) implements AcquireReply {}

        /** The same of so many nodes of Redlock that the others are no majority. */
        record NodesReborn(long micros) implements AcquireReply {}

        /** A floor is more than 24 h ahead of the server's clock. */
        record FloorTooFar(long mark, long serverTime) implements AcquireReply {}

        /** The next token would not fit into 53 bits. */
        record Exhausted(long counter, long serverTime) implements AcquireReply {}
    }

    /** What a server says to a renewal. */
    enum RenewReply {
        RENEWED,
        REFUSED
    }

    /** What a server says to a release. */
    enum ReleaseReply {
        RELEASED,
        ABSENT
    }
}
