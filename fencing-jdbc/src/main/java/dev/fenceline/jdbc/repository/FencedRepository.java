package dev.fenceline.jdbc.repository;

import dev.fenceline.Locks;
import dev.fenceline.Work;
import dev.fenceline.jdbc.JdbiFence;
import dev.fenceline.jdbc.PostgresFence;

/**
 * A repository that was written without locks, put under the fence as it is.
 *
 * <p>The trap: {@code a = repository.find(42); a.add(5); repository.save(a)} is two calls. Fencing each call by itself protects nothing:
 * {@code save} would take the lock anew, claim anew, and write over whatever was written since {@code find}. So what is fenced is the unit
 * of work, from the read to the write that is based on it, and a write outside of a unit is refused instead of being fenced alone.
 *
 * <pre>{@code
 * FencedRepository<Accounts> accounts = FencedRepository.of(Accounts.class, fence, locks)
 *         .delegate(new LegacyAccounts(fence.dataSource()))
 *         .lock("account", "id")                                               // from the argument named id
 *         .lock(Account.class, account -> LockName.of("account", account.id()))
 *         .reads("find*")
 *         .selfContained("withdraw")
 *         .build();
 *
 * accounts.proxy().withdraw(42, 10);                    // reads, computes and writes by itself: one call, one unit
 * accounts.unit(LockName.of("account", 42), a -> {      // several calls, one unit
 *     Account account = a.find(42);
 *     account.add(5);
 *     a.save(account);
 * });
 * }</pre>
 *
 * <p><b>Guarantees:</b> through the {@link #proxy()}, a method that writes runs only in a unit that has claimed the locks of what it
 * writes; those are found in its arguments. Methods that read pass, inside of a unit and outside, where they wait for no lock.
 * Exceptions of the repository come out as they are. A repository that turns out to have its connections from elsewhere than the fence
 * is told to the listener, and refused from its second call on.
 *
 * <p><b>Not guaranteed:</b> that a method does what its rule says of it. That what is saved in a unit was read in it: what was read
 * before is old, and nobody can see that. A method that the repository calls on itself ({@code this.save})
 * is not seen: inside of a unit it is in that unit, outside it is fenced by nothing. Threads that a unit starts are not in it. So protect
 * the table too ({@code fenceline.protect}): then the database refuses what gets past this.
 *
 * <p><b>Thread-safety:</b> any thread, if the delegate can be used by any. A unit is of the thread that runs it.
 *
 * @param <R> the repository's interface
 */
public final class FencedRepository<R> extends RepositoryUnits<R> {

    private final R proxy;

    FencedRepository(Delegates<R> delegates, UnitSettings settings, R proxy) {
        super(delegates, settings);
        this.proxy = proxy;
    }

    /**
     * Begins with a repository that has its connections from {@link PostgresFence#dataSource()}, and begins and ends its transactions
     * itself: JDBC, JdbcTemplate, jOOQ, MyBatis.
     *
     * @param type its interface; a class works too, for {@link RepositoryBuilder#buildUnits units} only
     * @param fence whose data source it is built on
     * @param locks grants the locks
     * @param <R> the repository's type
     * @return asks for the repository
     */
    public static <R> OverDataSource<R> of(Class<R> type, PostgresFence fence, Locks locks) {
        return new OverDataSource<>(type, fence, locks);
    }

    /**
     * Begins with a repository over a handle of Jdbi. A unit is one transaction; those that the repository begins itself are part of it.
     *
     * @param type its interface; a class works too, for {@link RepositoryBuilder#buildUnits units} only
     * @param fence over the Jdbi
     * @param locks grants the locks
     * @param <R> the repository's type
     * @return asks for the repository
     */
    public static <R> OverJdbi<R> of(Class<R> type, JdbiFence fence, Locks locks) {
        return new OverJdbi<>(type, fence, locks);
    }

    /**
     * Returns the drop-in: give it to whoever had the repository until now.
     *
     * @return of the repository's interface; always the same
     */
    public R proxy() {
        return proxy;
    }

    @Override
    <T, X extends Exception> T within(Work<R, T, X> work) throws X {
        return work.with(proxy);
    }
}
