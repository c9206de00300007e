package dev.fenceline.lock;

import java.util.Optional;

/**
 * Which locks to list.
 *
 * <p><b>Thread-safety:</b> immutable.
 *
 * @param kind of this kind only; both where empty
 * @param start their names begin with this text, as {@link dev.fenceline.LockName#toString()} writes them; every name begins with
 *     the empty text
 */
public record LockFilter(Optional<LockKind> kind, String start) {

    /**
     * Lists every lock.
     *
     * @return a filter that lets all of them through
     */
    public static LockFilter all() {
        return new LockFilter(Optional.empty(), "");
    }

    /**
     * Lists locks of one kind.
     *
     * @param wanted the kind
     * @return a changed copy
     */
    public LockFilter kind(LockKind wanted) {
        return new LockFilter(Optional.of(wanted), start);
    }

    /**
     * Lists locks whose name begins with a text, such as {@code account:} for one class, or {@code acc} for all classes that begin so.
     *
     * @param text the beginning of a canonical name; no character of it is special
     * @return a changed copy
     */
    public LockFilter startingWith(String text) {
        return new LockFilter(kind, text);
    }
}
