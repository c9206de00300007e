package dev.fenceline.s3;

import dev.fenceline.FencingToken;
import java.util.Objects;
import java.util.Optional;

/**
 * The right to write one object under one token, for as long as nobody newer has claimed it.
 *
 * <p><b>Guarantees:</b> each write replaces exactly what this claim has seen last, by claiming, by {@link #read()} or by its own last write;
 * so of all accepted writes each is based on the one before it. What is refused is never done, not even by a request that was held
 * up on its way. A write takes one request; more only where its answer is not that it was done.
 *
 * <p><b>Not guaranteed:</b> that the lease still runs. It need not: the fence decides, not the lease. Threads that share a claim and
 * each read, compute and write can still undo each other's work, as all of them are its holder; {@link #update} is for that.
 *
 * <p><b>Blocking:</b> the request timeout for the request itself; to find out what became of one that was not answered, three rounds, and no more
 * than what is left of the lease, at least a second and at most ten.
 *
 * <p><b>Interruption:</b> the flag is kept, and the work goes on: an interrupted thread reads and writes as any other, data of pointers too,
 * since a write that was half sent would leave its outcome open. Who wants to stop asks the flag before. Only when the request also runs into
 * its timeout the flag is gone: the SDK ends a request by interrupting the thread, and clears the flag after that.
 *
 * <p><b>Thread-safety:</b> any thread; the steps of one claim are done one after the other.
 *
 * <p><b>Errors:</b> of every method, what it did when it throws:
 * <ul>
 *   <li>{@link dev.fenceline.StaleTokenException}: nothing, and never will; a newer holder has claimed. The claim is over.
 *   <li>{@link dev.fenceline.BackendUnavailableException}: nothing, and never will; the claim is good, try again under it.
 *   <li>{@link dev.fenceline.RetryableConflictException}: nothing, and never will; another session of the same claim has written. Read again.
 *   <li>{@link dev.fenceline.OutcomeUnknownException}: it may have been done, once at most. If it is {@code resolvable()}, {@code resolve()} settles it;
 *       else read.
 *   <li>{@link dev.fenceline.TokenRejectedException}: nothing; the object is gone, or was restored from an older version.
 *   <li>{@link dev.fenceline.BackendMisconfiguredException}: nothing; the store refuses for a reason that lasts, such as a missing right, or the client
 *       was closed.
 *   <li>{@link dev.fenceline.UnfencedWriteException}: nothing; the work that the claim was made for has ended.
 * </ul>
 */
public abstract sealed class ObjectClaim permits EnvelopeClaim, PointerClaim {

    ObjectClaim() {}

    abstract Session<?> session();

    /**
     * Returns the token that was claimed, to be handed on to whoever resumes this work elsewhere.
     *
     * @return the token
     */
    public final FencingToken token() {
        return session().token();
    }

    /**
     * Returns the key that was claimed.
     *
     * @return in the bucket of the fence
     */
    public final String key() {
        return session().key();
    }

    /**
     * Reads the object, and that the mark is still ours. What is written next is based on this.
     *
     * @return empty when nothing was written yet, or it was deleted
     */
    public abstract Optional<S3Content> read();

    /**
     * Writes the object, in place of what was seen last, with the content type, metadata and other attributes of this body and none of
     * those from before.
     *
     * @param body what it is from now on
     * @throws IllegalArgumentException when the body is larger than the format takes; nothing was sent
     * @throws java.io.UncheckedIOException when the body cannot be read; nothing was written
     */
    public abstract void write(S3Body body);

    /**
     * Writes bytes, without attributes, also where there were some; else as {@link #write(S3Body)}.
     *
     * @param bytes what it is from now on
     */
    public final void write(byte[] bytes) {
        write(S3Body.of(bytes));
    }

    /**
     * Computes what is written from what is there, as often as it takes: no thread and no other session of this claim writes in
     * between. Content type, metadata and other attributes are those of the body that is computed: what is to be kept of
     * those from before, the change takes over from the content that it is given.
     *
     * @param change computes, from what was seen last; called again with what is there when another session of this claim was faster
     * @param <X> what it may throw
     * @throws X as the change did; nothing is written then
     */
    public abstract <X extends Exception> void update(S3Change<X> change) throws X;

    /**
     * Deletes the data, in place of what was seen last. The mark stays, and so does a small object under the key: without it an older
     * writer could create the object anew. Never remove that one.
     */
    public abstract void delete();

    /** A body that a caller gave. */
    final S3Body given(S3Body body) {
        return Objects.requireNonNull(
                body,
                () -> "Write on " + session().resource()
                        + " refused: there is no body. Nothing was written. To leave nothing, use delete().");
    }

    /** A body that a change gave. */
    final S3Body computed(S3Body body) {
        return Objects.requireNonNull(
                body,
                () -> "Write on " + session().resource()
                        + " refused: the change returned no body. Nothing was written. To leave nothing, use delete(); to"
                        + " leave what is there, throw.");
    }

    /** What a claim that has ended refuses. */
    final void end() {
        session().end();
    }
}
