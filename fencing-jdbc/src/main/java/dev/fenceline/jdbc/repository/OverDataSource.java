package dev.fenceline.jdbc.repository;

import dev.fenceline.Locks;
import dev.fenceline.jdbc.PostgresFence;
import java.util.Objects;

/**
 * Asks for a repository over a data source.
 *
 * @param <R> the repository's type
 */
public final class OverDataSource<R> {

    private final Class<R> type;
    private final PostgresFence fence;
    private final Locks locks;

    OverDataSource(Class<R> type, PostgresFence fence, Locks locks) {
        this.type = Objects.requireNonNull(type, "type");
        this.fence = Objects.requireNonNull(fence, "fence");
        this.locks = Objects.requireNonNull(locks, "locks");
    }

    /**
     * Sets the repository.
     *
     * <p><b>Errors:</b> one that has its connections from elsewhere is protected by nothing. A unit in which a method that writes took no
     * connection of the fence is told to the fence's listener, since there may have been nothing to do. From the second call on it is
     * refused with an {@link dev.fenceline.UnfencedWriteException}, unless a unit before it was seen to take one. What it wrote stays.
     *
     * @param delegate has its connections from {@code fence.dataSource()}
     * @return asks for the rules
     */
    public RepositoryBuilder<R> delegate(R delegate) {
        return new RepositoryBuilder<>(
                type, new OneDelegate<>(Objects.requireNonNull(delegate, "delegate"), fence, locks));
    }
}
