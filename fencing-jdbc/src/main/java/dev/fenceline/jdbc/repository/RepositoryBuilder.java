package dev.fenceline.jdbc.repository;

import dev.fenceline.LockName;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.function.Function;

/**
 * Says of each method of a repository what it may do, and where the lock of what it writes is found.
 *
 * <p>A method without a rule needs a unit. Its locks are those that the rules for locks find in its arguments, all of them; one without
 * any fails {@link #build()}, which names all that is missing at once.
 *
 * <p>Methods are named by patterns: {@code save}, {@code find*}, or {@code find(long)} for one of several of a name.
 *
 * <p><b>Thread-safety:</b> none; what is built has.
 *
 * @param <R> the repository's type
 */
public final class RepositoryBuilder<R> {

    private final Class<R> type;
    private final Delegates<R> delegates;
    private final List<LockRule> lockRules = new ArrayList<>();
    private final Map<MethodPattern, MethodKind> kinds = new LinkedHashMap<>();
    private UnitSettings settings = UnitSettings.DEFAULTS;

    RepositoryBuilder(Class<R> type, Delegates<R> delegates) {
        this.type = type;
        this.delegates = delegates;
    }

    /**
     * Finds the lock in arguments by their names: {@code lock("account", "id")} makes {@code account:42} of an argument {@code id} that is
     * 42. Needs the names of parameters in the class file: compile the interface with {@code -parameters}. Several rules for one method
     * are several locks: {@code lock("account", "from").lock("account", "to")}. Several arguments in one rule are one lock with a key of
     * several parts: {@code lock("account", "from", "to")} keeps out nobody who holds {@code account:1}, and beside a rule of the same class
     * with another number of parts it fails {@link #build()}.
     *
     * @param lockClass as in {@link LockName#of}
     * @param arguments the names of the parts, in their order; strings, whole numbers or UUIDs
     * @return this builder
     */
    public RepositoryBuilder<R> lock(String lockClass, String... arguments) {
        if (arguments.length == 0) {
            throw new IllegalArgumentException("No argument named: the lock \"" + lockClass
                    + "\" would be one for all. Name where its parts come from," + " or say so with lockBy.");
        }
        // A class that cannot be used is told here and not at the first call.
        LockName.of(lockClass);
        lockRules.add(new LockRule.ByName(lockClass, List.of(arguments)));
        return this;
    }

    /**
     * Finds a lock in each argument of a type: {@code lock(Account.class, account -> LockName.of("account", account.id()))}.
     *
     * @param argument the type of the argument, or a supertype of it
     * @param lock names its lock
     * @param <A> the type of the argument
     * @return this builder
     */
    public <A> RepositoryBuilder<R> lock(Class<A> argument, Function<? super A, LockName> lock) {
        lockRules.add(new LockRule.ByType<>(argument, Objects.requireNonNull(lock, "lock")));
        return this;
    }

    /**
     * Finds a lock in each element of a collection or array: for {@code saveAll(List<Account>)}. All are taken and claimed before the
     * method runs, in one order, each once; at most {@link #lockAtMost} of them. A call with an empty list passes inside of a unit, and
     * is refused outside, where nothing would fence it.
     *
     * @param element the type of the elements, or a supertype of it
     * @param lock names the lock of one
     * @param <E> the type of the elements
     * @return this builder
     */
    public <E> RepositoryBuilder<R> lockEach(Class<E> element, Function<? super E, LockName> lock) {
        lockRules.add(new LockRule.ByElement<>(element, Objects.requireNonNull(lock, "lock")));
        return this;
    }

    /**
     * Finds the lock of some methods in all their arguments, and no other in these: by position where names are not at hand,
     * {@code lockBy("withdraw", arguments -> LockName.of("account", arguments.get(0)))}, or one coarse lock for whatever is in a list,
     * {@code lockBy("saveAll", arguments -> LockName.of("accounts"))}. A coarse lock keeps out only those who take the same.
     *
     * @param methods a pattern
     * @param lock names the lock of one call
     * @return this builder
     */
    public RepositoryBuilder<R> lockBy(String methods, Function<? super List<Object>, LockName> lock) {
        lockRules.add(new LockRule.ByMethod(MethodPattern.of(methods), Objects.requireNonNull(lock, "lock")));
        return this;
    }

    /**
     * Names methods that write nothing. They pass, wherever they are called, and wait for no lock.
     *
     * @param methods patterns
     * @return this builder
     */
    public RepositoryBuilder<R> reads(String... methods) {
        return rule(MethodKind.READS, methods);
    }

    /**
     * Names methods that read, compute and write all by themselves, and return when it is done: {@code withdraw(id, amount)}. Outside
     * of a unit, one call is one.
     *
     * <p>Not for {@code save}: what that writes was computed from something that its caller has read before.
     *
     * @param methods patterns
     * @return this builder
     */
    public RepositoryBuilder<R> selfContained(String... methods) {
        return rule(MethodKind.SELF_CONTAINED, methods);
    }

    /**
     * Names methods that write in one statement what was computed from nothing that was read: {@code touch(id)}, or a value that
     * replaces another whatever that was. Outside of a unit, one call is one.
     *
     * @param methods patterns
     * @return this builder
     */
    public RepositoryBuilder<R> blind(String... methods) {
        return rule(MethodKind.BLIND, methods);
    }

    private RepositoryBuilder<R> rule(MethodKind kind, String... methods) {
        for (String each : methods) {
            kinds.put(MethodPattern.of(each), kind);
        }
        return this;
    }

    /**
     * Limits the wait for the locks of a unit. Without it, the options of the locks do.
     *
     * @param limit from zero, which tries once, to 366 days
     * @return this builder
     * @throws IllegalArgumentException when the limit is out of range
     */
    public RepositoryBuilder<R> waitAtMost(Duration limit) {
        if (limit.isNegative() || limit.compareTo(Duration.ofDays(366)) > 0) {
            throw new IllegalArgumentException(
                    "waitAtMost of " + limit + " is not between zero, which tries once, and 366 days.");
        }
        settings = new UnitSettings(Optional.of(limit), settings.retries(), settings.lockAtMost());
        return this;
    }

    /**
     * Has a unit begun again that was refused because somebody newer has claimed, or that lost a race: with a new grant, and from the
     * first line of its body, since what it read is old. Never after something of it was committed, or may have been. Off unless asked
     * for: the body then runs more than once, and whatever it does outside of the database with it.
     *
     * <p>Over a data source each transaction is committed by itself, one that only reads too: nobody can tell that a SELECT called no
     * function that writes. So there a unit is begun again only if its claim or its first transaction was refused.
     *
     * @param times how often after the first attempt, 1 to 100
     * @return this builder
     * @throws IllegalArgumentException when it is out of range
     */
    public RepositoryBuilder<R> retries(int times) {
        if (times < 1 || times > 100) {
            throw new IllegalArgumentException(
                    "retries of " + times + " is not between 1 and 100; without it there are none.");
        }
        settings = new UnitSettings(settings.maxWait(), times, settings.lockAtMost());
        return this;
    }

    /**
     * Limits how many locks a unit may have; 100 unless set. Each is a round trip, and is held until all are done.
     *
     * @param locks 1 to 10,000
     * @return this builder
     * @throws IllegalArgumentException when it is out of range
     */
    public RepositoryBuilder<R> lockAtMost(int locks) {
        if (locks < 1 || locks > 10_000) {
            throw new IllegalArgumentException("lockAtMost of " + locks + " is not between 1 and 10,000.");
        }
        settings = new UnitSettings(settings.maxWait(), settings.retries(), locks);
        return this;
    }

    /**
     * Builds the drop-in for an interface.
     *
     * @return the repository under the fence
     * @throws IllegalArgumentException when a method that writes has no lock, a pattern matches nothing or two rules match one
     *     method, a result would come after the unit has ended, two rules name locks of one class with different numbers of parts, or the type is
     *     a class; the message names all of it
     */
    public FencedRepository<R> build() {
        if (!type.isInterface()) {
            throw new IllegalArgumentException(type.getSimpleName()
                    + " is a class, and only an interface can be implemented anew. Extract one, or end with buildUnits(), which runs"
                    + " units with the class as it is and refuses nothing outside of them.");
        }
        MethodRules rules = new MethodRules(type, delegates, lockRules, kinds);
        RepositoryCalls<R> calls = new RepositoryCalls<>(type, delegates, settings, rules.methods());
        R proxy = type.cast(Proxy.newProxyInstance(type.getClassLoader(), new Class<?>[] {type}, calls));
        return calls.repository(proxy);
    }

    /**
     * Builds what runs units and nothing else, for a class without an interface.
     *
     * @return runs units with the repository itself
     * @throws IllegalArgumentException when there are rules, which nothing would enforce
     */
    public RepositoryUnits<R> buildUnits() {
        if (!lockRules.isEmpty() || !kinds.isEmpty()) {
            throw new IllegalArgumentException(
                    "Rules for methods of " + type.getSimpleName()
                            + " given, and without a proxy nothing enforces them. Leave them out, or use build() with an interface.");
        }
        delegates.misfit().ifPresent(misfit -> {
            throw new IllegalArgumentException(
                    "Units of " + type.getSimpleName() + " cannot be built: " + misfit + ".");
        });
        return new RepositoryUnits<>(delegates, settings);
    }
}
