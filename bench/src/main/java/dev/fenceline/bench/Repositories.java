package dev.fenceline.bench;

import dev.fenceline.FencedLock;
import dev.fenceline.LockName;
import dev.fenceline.Locks;
import dev.fenceline.jdbc.JdbiFence;
import dev.fenceline.jdbc.PostgresFence;
import dev.fenceline.jdbc.repository.FencedRepository;
import dev.fenceline.jdbc.repository.RepositoryBuilder;
import javax.sql.DataSource;
import org.jdbi.v3.core.Jdbi;

/** A bare repository and the same one wrapped, over one data source and under one service of locks. */
final class Repositories {

    private final DataSource source;
    private final Locks locks;
    private final PostgresFence fence;
    private final Jdbi jdbi;
    private final FencedRepository<Balances> wrapped;
    private final FencedRepository<Balances> wrappedJdbi;

    Repositories(DataSource source, Locks locks) {
        this.source = source;
        this.locks = locks;
        this.fence = PostgresFence.on(source);
        this.jdbi = Jdbi.create(source);
        this.wrapped =
                ruled(FencedRepository.of(Balances.class, fence, locks).delegate(new JdbcBalances(fence.dataSource())));
        this.wrappedJdbi = ruled(
                FencedRepository.of(Balances.class, JdbiFence.on(jdbi), locks).delegate(JdbiBalances::new));
    }

    private static FencedRepository<Balances> ruled(RepositoryBuilder<Balances> builder) {
        return builder.lock("balance", "id").reads("find").selfContained("add").build();
    }

    /** One call of a form, on the row of one thread. */
    Write call(RepositoryForm form, long id) {
        Balances bare = new JdbcBalances(source);
        LockName name = LockName.of("balance", id);
        FencedLock lock = locks.fenced(name);
        return switch (form) {
            case FIND -> value -> found(bare, id);
            case FIND_WRAPPED -> value -> found(wrapped.proxy(), id);
            case PAIR -> value -> bare.save(id, bare.find(id) + 1);
            case PAIR_LOCKED -> value -> lock.run(lease -> bare.save(id, bare.find(id) + 1));
            case PAIR_BY_HAND ->
                value -> fence.under(lock)
                        .run(connection -> JdbcBalances.save(connection, id, JdbcBalances.find(connection, id) + 1));
            case PAIR_WRAPPED -> value -> wrapped.unit(name, balances -> balances.save(id, balances.find(id) + 1));
            case ADD -> value -> bare.add(id, 1);
            case ADD_WRAPPED -> value -> wrapped.proxy().add(id, 1);
            case JDBI ->
                value -> jdbi.useHandle(handle -> {
                    Balances balances = new JdbiBalances(handle);
                    balances.save(id, balances.find(id) + 1);
                });
            case JDBI_WRAPPED -> value -> wrappedJdbi.unit(name, balances -> balances.save(id, balances.find(id) + 1));
        };
    }

    private static void found(Balances balances, long id) {
        if (balances.find(id) < 0) {
            throw new IllegalStateException("Balance " + id + " is negative; it is only added to.");
        }
    }
}
