package dev.fenceline.jdbc.repository;

import dev.fenceline.Locks;
import dev.fenceline.jdbc.JdbiFence;
import java.util.Objects;
import java.util.function.Function;
import org.jdbi.v3.core.Handle;

/**
 * Asks for a repository over a handle of Jdbi.
 *
 * @param <R> the repository's type
 */
public final class OverJdbi<R> {

    private final Class<R> type;
    private final JdbiFence fence;
    private final Locks locks;

    OverJdbi(Class<R> type, JdbiFence fence, Locks locks) {
        this.type = Objects.requireNonNull(type, "type");
        this.fence = Objects.requireNonNull(fence, "fence");
        this.locks = Objects.requireNonNull(locks, "locks");
    }

    /**
     * Sets how the repository is made for a handle: {@code JdbiAccounts::new}.
     *
     * @param attaching called once for each unit, and for each call outside of units
     * @return asks for the rules
     */
    public RepositoryBuilder<R> delegate(Function<Handle, ? extends R> attaching) {
        return new RepositoryBuilder<>(
                type, DelegateOfHandle.made(Objects.requireNonNull(attaching, "attaching"), fence, locks));
    }

    /**
     * Sets a type that Jdbi implements by itself, of {@code jdbi3-sqlobject} or another extension.
     *
     * @param sqlObject the repository's interface itself, or one that extends it
     * @return asks for the rules
     */
    public RepositoryBuilder<R> sqlObject(Class<? extends R> sqlObject) {
        return new RepositoryBuilder<>(
                type, DelegateOfHandle.extension(Objects.requireNonNull(sqlObject, "sqlObject"), fence, locks));
    }
}
