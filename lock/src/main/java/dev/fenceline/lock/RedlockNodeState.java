package dev.fenceline.lock;

import java.time.Instant;
import java.util.Optional;
import java.util.OptionalLong;

/**
 * What one node of Redlock knows, as it showed at one moment: whether it takes part, and a lock as it lies there. Only a majority
 * of the nodes makes a grant, so a lock that a few of them have is one that is being acquired, released or has been given up.
 *
 * <p><b>Not guaranteed:</b> that it is still so, or was at the same moment at another node.
 *
 * <p><b>Thread-safety:</b> immutable.
 *
 * @param server names the node, without credentials
 * @param status whether it takes part
 * @param trouble why it could not be asked; empty where it was
 * @param reborn since when it knows that it is new, was restarted or lost its data: it grants nothing from then on until the longest
 *     lease is over ({@link dev.fenceline.LockOptions#restartDelay()}); empty where it never was, or where nobody has connected since
 * @param waitsUntil when it begins to grant, by its own clock and with the lease of these options, where it still waits
 * @param counter what the next token of the lock has to be above here, of a fenced one: the newest of its bucket, or what the node
 *     may have granted before it was reborn
 * @param lock the lock that was asked for; empty where it is free here, or none was asked for. Who waits is known to no node
 */
public record RedlockNodeState(
        String server,
        Status status,
        Optional<String> trouble,
        Optional<Instant> reborn,
        Optional<Instant> waitsUntil,
        OptionalLong counter,
        Optional<LockState> lock) {

    /** Whether a node takes part. */
    public enum Status {
        /** It could not be asked. */
        UNKNOWN,
        /** It was never used, or lost its data: it waits, once somebody connects, unless {@link RedlockConnector#firstStart()} comes first. */
        NEW,
        /** It was restarted: it waits, once somebody connects. */
        RESTARTED,
        /** It knows that it was reborn, and grants nothing until {@link RedlockNodeState#waitsUntil()}. */
        WAITING,
        /** It takes part. */
        KNOWN
    }
}
