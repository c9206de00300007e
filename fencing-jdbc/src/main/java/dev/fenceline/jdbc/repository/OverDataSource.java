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
     * @param delegate has its connections from {@code fence.dataSource()}. One that has them from elsewhere is protected by nothing, and
     *     that is not seen here
     * @return asks for the rules
     */
    public RepositoryBuilder<R> delegate(R delegate) {
        return new RepositoryBuilder<>(
                type, new OneDelegate<>(Objects.requireNonNull(delegate, "delegate"), fence, locks));
    }
}
