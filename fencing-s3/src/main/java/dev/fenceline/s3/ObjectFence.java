package dev.fenceline.s3;

import dev.fenceline.FencedLease;
import dev.fenceline.FencedLock;
import dev.fenceline.FencingToken;
import dev.fenceline.Hold;
import java.nio.charset.StandardCharsets;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * A fence in one bucket of S3: the object itself keeps the newest token, and a write succeeds only while that is its own and nothing was
 * written since.
 *
 * <p><b>Guarantees:</b> after a claim was admitted, no write of an earlier claim is, whatever pauses, retries, clocks or the lock service
 * do; not a write of the same content either, and not one that was held up on its way.
 *
 * <p><b>Not guaranteed:</b> anything about who writes or removes the object past the fence, copies or restores a version over it, or expires
 * it by a lifecycle rule. Whoever can do that can undo the fence: keep that right from writers. Tags and access lists of the object
 * are not kept by a write, and a claim is one.
 *
 * <p><b>Thread-safety:</b> any thread.
 *
 * @param <C> what is claimed
 */
public abstract sealed class ObjectFence<C extends ObjectClaim> permits EnvelopeFence, PointerFence {

    /** What S3 takes, in UTF-8. */
    static final int MAX_KEY_BYTES = 1024;

    private final FenceSettings settings;

    ObjectFence(FenceSettings settings) {
        this.settings = settings;
    }

    final FenceSettings settings() {
        return settings;
    }

    abstract C open(String key, FencingToken token, @Nullable Hold lease);

    abstract C reopen(String key, FencingToken token);

    /**
     * Raises the mark of an object to the token of a lease. Everything that is read through the claim is safe to base a write on; what was
     * read before is not. Of several objects under one lock, claim all before the first read.
     *
     * <p><b>Guarantees:</b> the mark stands when this returns. The content is as it was; the object's ETag and its time are not.
     *
     * <p><b>Blocking:</b> two requests; as long as the lease has left, at least a second and at most ten.
     *
     * <p><b>Interruption:</b> the flag is kept.
     *
     * @param lease what was acquired
     * @param key of the object, whether or not it exists
     * @return the right to write it
     * @throws dev.fenceline.LeaseLostException when the lease is over; nothing was written
     * @throws dev.fenceline.StaleTokenException when a newer token was claimed
     * @throws dev.fenceline.TokenRejectedException when the object belongs to another lock, or the token is from the far future
     * @throws dev.fenceline.RetryableConflictException when older holders kept writing; claim again
     * @throws dev.fenceline.BackendUnavailableException when the store does not answer. The mark may have been raised, which does no harm
     * @throws dev.fenceline.BackendMisconfiguredException when the key holds something else than an object of this format, or a right is missing
     */
    public final C claim(FencedLease lease, String key) {
        return open(requireKey(key), lease.token(), lease);
    }

    /**
     * As {@link #claim(FencedLease, String)}, for a token whose lease is held elsewhere.
     *
     * @param token what was acquired; compare its lock with the resource's own name first
     * @param key of the object
     * @return the right to write it
     */
    public final C claim(FencingToken token, String key) {
        return open(requireKey(key), token, null);
    }

    /**
     * Goes on under a claim that was made earlier, in another request or another process. Never raises the mark.
     *
     * <p><b>Blocking:</b> one request.
     *
     * @param token the token that was claimed; compare its lock with the resource's own name first
     * @param key of the object
     * @return the right to write it, if nobody has taken over in the meantime; each write checks that again
     * @throws dev.fenceline.StaleTokenException when a newer token was claimed
     * @throws dev.fenceline.TokenRejectedException when this token was never claimed here, or the object belongs to another lock
     * @throws dev.fenceline.BackendUnavailableException when the store does not answer
     * @throws dev.fenceline.BackendMisconfiguredException as when claiming
     */
    public final C resume(FencingToken token, String key) {
        return reopen(requireKey(key), token);
    }

    /**
     * Joins this fence with a lock, for work on one object.
     *
     * @param lock the lock that protects it
     * @param key of the object
     * @return acquires, claims, runs the work and releases
     */
    public final UnderLock<C> under(FencedLock lock, String key) {
        return new UnderLock<>(this, lock, requireKey(key), Optional.empty());
    }

    /**
     * Reads the object without a lock, as it was after some accepted write.
     *
     * @param key of the object
     * @return empty when nothing was written yet, or it was deleted
     * @throws dev.fenceline.BackendUnavailableException when the store does not answer
     * @throws dev.fenceline.BackendMisconfiguredException when the key holds something else, or a right is missing
     */
    public abstract Optional<S3Content> read(String key);

    /** Refuses a key that this format cannot be kept under. */
    abstract String requireKey(String key);

    static String checked(String key) {
        return checked("an object", key, MAX_KEY_BYTES, ".");
    }

    /** The limit is the format's; {@code why} ends the sentence that names it. */
    static String checked(String what, String key, int limit, String why) {
        int bytes = key.getBytes(StandardCharsets.UTF_8).length;
        if (bytes == 0 || bytes > limit || key.chars().anyMatch(c -> c < ' ' || c == 0x7f)) {
            throw new IllegalArgumentException("The key of " + what + " has " + bytes + " bytes; it is text of 1 to "
                    + limit + " bytes of UTF-8 without control characters" + why);
        }
        return key;
    }
}
