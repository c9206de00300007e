package dev.fenceline.jdbc.repository;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.fenceline.FencedLease;
import dev.fenceline.FencelineException;
import dev.fenceline.FencingToken;
import dev.fenceline.LockName;
import dev.fenceline.LockNotAcquiredException;
import dev.fenceline.RetryableConflictException;
import dev.fenceline.StaleTokenException;
import dev.fenceline.UnfencedWriteException;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** What a wrapped repository does, of whichever kind it is. Names carry the number of the semantics that they show. */
abstract class FencedRepositoryContract {

    static Bank bank;
    static ExecutorService threads;

    FencedRepository<Accounts> accounts;
    Accounts proxy;

    @BeforeAll
    static void openBank() {
        bank = Bank.create();
        threads = Executors.newCachedThreadPool();
    }

    @AfterAll
    static void closeBank() {
        threads.shutdownNow();
        bank.locks().close();
    }

    @BeforeEach
    void openAccounts() {
        bank.open();
        accounts = ruled(wrapping(Accounts.class)).build();
        proxy = accounts.proxy();
    }

    /** Wraps the repository of this kind. */
    abstract RepositoryBuilder<Accounts> wrapping(Class<Accounts> type);

    /** What the fence says of the unit that this thread is in. */
    abstract Optional<FencingToken> current();

    /** The same repository without the wrapper. */
    abstract void unwrapped(BareWork work);

    interface BareWork {
        void with(Accounts accounts) throws Exception;
    }

    static RepositoryBuilder<Accounts> ruled(RepositoryBuilder<Accounts> builder) {
        return builder.lock("account", "id")
                .lock(Account.class, account -> Bank.account(account.id()))
                .lockEach(Account.class, account -> Bank.account(account.id()))
                .lock("account", "from")
                .lock("account", "to")
                .lockBy("deleteById", arguments -> LockName.of("account", arguments.get(0)))
                .reads("find*")
                .selfContained("withdraw", "close", "transfer", "fail", "setAll")
                .blind("block");
    }

    private static void assertReleased(int id) {
        FencedLease free = bank.locks().fenced(Bank.account(id)).tryAcquire().orElseThrow();
        free.close();
    }

    // The trap.

    @Test
    void rule1TheTrapFindChangeSaveOutsideOfAUnitIsRefusedWithTheUnitToWrite() {
        Account read = proxy.find(42);

        assertThatThrownBy(() -> proxy.save(read.plus(5)))
                .isInstanceOf(UnfencedWriteException.class)
                .hasMessage(
                        "Accounts.save(Account) under 'account:42' refused outside of a unit: what it writes was computed"
                                + " from something read before, and whatever was written in between would be lost. Nothing was called."
                                + " Put the read and the write into one unit: accounts.unit(LockName.of(\"account\", 42), a -> {"
                                + " var x = a.find(42); …; a.save(x); }); Only if save reads, computes and writes all by itself, name"
                                + " it in .selfContained(\"save\").");
        assertThat(bank.balance(42)).isEqualTo(100);
    }

    @Test
    void rule1TheTrapFindChangeSaveInAUnitLosesNothingWhoeverElseDoesTheSame() throws Exception {
        Future<?> other = accounts.inUnit(Bank.account(42), a -> {
            Account read = a.find(42);
            CountDownLatch begun = new CountDownLatch(1);
            Future<?> meanwhile = threads.submit(() -> {
                begun.countDown();
                accounts.unit(Bank.account(42), b -> b.save(b.find(42).plus(1)));
                return true;
            });
            assertThat(begun.await(20, TimeUnit.SECONDS)).isTrue();
            a.save(read.plus(5));
            return meanwhile;
        });

        other.get(20, TimeUnit.SECONDS);
        assertThat(bank.balance(42)).isEqualTo(106);
        assertReleased(42);
    }

    @Test
    void rule1TheTrapWithoutTheWrapperTheSameLosesAnUpdate() {
        unwrapped(a -> {
            Account read = a.find(42);
            unwrapped(b -> b.save(b.find(42).plus(1)));
            a.save(read.plus(5));
        });

        assertThat(bank.balance(42)).as("the other one's 1 is lost").isEqualTo(105);
    }

    @Test
    void rule1AStaleWriterInsideAUnitIsRefused() {
        assertThatThrownBy(() -> accounts.unit(Bank.account(42), a -> {
                    FencingToken mine = current().orElseThrow();
                    FencingToken newer = bank.overtake(mine);
                    assertThatThrownBy(() -> a.save(a.find(42).plus(5)))
                            .satisfies(thrown -> assertThat(FencelineException.in(thrown))
                                    .get()
                                    .isInstanceOfSatisfying(StaleTokenException.class, stale -> {
                                        assertThat(stale.presented()).isEqualTo(mine);
                                        assertThat(stale.newest()).isEqualTo(newer);
                                    }));
                }))
                .as("and again at the end, since it was swallowed")
                .isInstanceOf(StaleTokenException.class)
                .hasMessageContaining("PostgreSQL guard 'account:42'");
        assertThat(bank.balance(42)).isEqualTo(100);
        assertReleased(42);
    }

    // 1: what needs a unit.

    @Test
    void rule1ReadsPassOutsideOfAUnitAlsoWhileSomebodyHoldsTheLock() {
        try (FencedLease held =
                bank.locks().fenced(Bank.account(42)).tryAcquire().orElseThrow()) {
            assertThat(proxy.find(42).balance()).isEqualTo(100);
            assertThat(proxy.findAll()).hasSize(3);
            assertThat(held.isHeld()).isTrue();
        }
    }

    @Test
    void rule1ASelfContainedMethodIsAUnitOfOneCall() throws Exception {
        assertThat(proxy.withdraw(42, 10)).isEqualTo(90);
        assertThat(bank.balance(42)).isEqualTo(90);
        assertReleased(42);

        try (FencedLease held =
                bank.locks().fenced(Bank.account(42)).tryAcquire().orElseThrow()) {
            Accounts impatient = ruled(wrapping(Accounts.class))
                    .waitAtMost(Duration.ZERO)
                    .build()
                    .proxy();
            assertThatThrownBy(() -> impatient.withdraw(42, 10))
                    .isInstanceOf(LockNotAcquiredException.class)
                    .hasMessageContaining("Lock 'account:42' not acquired within");
            assertThat(held.isHeld()).isTrue();
        }
        assertThat(bank.balance(42)).isEqualTo(90);
    }

    @Test
    void rule1ABlindMethodIsAUnitOfOneCallToo() {
        proxy.block(42);

        assertThat(bank.balance(42)).isEqualTo(-1);
        assertReleased(42);
    }

    @Test
    void rule1WhatAUnitHasNotClaimedIsNotWrittenInIt() throws Exception {
        accounts.unit(Bank.account(42), a -> {
            assertThatThrownBy(() -> a.save(new Account(43, 0)))
                    .isInstanceOf(UnfencedWriteException.class)
                    .hasMessage(
                            "Accounts.save(Account) under 'account:43' refused inside of a unit of 'account:42': nobody has"
                                    + " claimed what it writes. Nothing was called. All locks of a unit are taken together, before its"
                                    + " first read: accounts.unit(List.of(LockName.of(\"account\", 42), LockName.of(\"account\", 43)),"
                                    + " a -> { … });");
            assertThatThrownBy(() -> a.withdraw(43, 1)).isInstanceOf(UnfencedWriteException.class);
            a.save(a.find(42).plus(5));
        });

        assertThat(bank.balance(42)).isEqualTo(105);
        assertThat(bank.balance(43)).isEqualTo(100);
    }

    @Test
    void rule1OverloadsInheritedAndGenericMethodsAreEachRefusedByTheirOwnLock() {
        Crud<Account, Integer> crud = proxy;

        assertThatThrownBy(() -> crud.save(new Account(41, 0)))
                .isInstanceOf(UnfencedWriteException.class)
                .hasMessageStartingWith("Accounts.save(Account) under 'account:41' refused outside of a unit");
        assertThatThrownBy(() -> proxy.save(43, 0))
                .isInstanceOf(UnfencedWriteException.class)
                .hasMessageStartingWith("Accounts.save(int, long) under 'account:43' refused outside of a unit")
                .hasMessageContaining("{ var x = a.find(43); …; a.save(/* made from x */); }");
        assertThatThrownBy(() -> crud.deleteById(42))
                .isInstanceOf(UnfencedWriteException.class)
                .hasMessageStartingWith("Accounts.deleteById(Object) under 'account:42' refused outside of a unit");
        assertThatThrownBy(() -> crud.saveAll(List.of(new Account(41, 0), new Account(42, 0))))
                .isInstanceOf(UnfencedWriteException.class)
                .hasMessageContaining(
                        "accounts.unit(List.of(LockName.of(\"account\", 41), LockName.of(\"account\", 42)), a ->");
        assertThat(bank.balance(41) + bank.balance(42) + bank.balance(43)).isEqualTo(300);
    }

    // 6: joining.

    @Test
    void rule6TheSameLockAgainJoinsTheUnit() throws Exception {
        accounts.unit(Bank.account(42), a -> {
            FencingToken outer = current().orElseThrow();
            accounts.unit(Bank.account(42), b -> {
                assertThat(current()).contains(outer);
                b.save(b.find(42).plus(1));
            });
            assertThat(a.withdraw(42, 10)).isEqualTo(91);
            assertThat(current()).as("the inner ones released nothing").contains(outer);
            a.save(a.find(42).plus(2));
        });

        assertThat(current()).isEmpty();
        assertThat(bank.balance(42)).isEqualTo(93);
        assertReleased(42);
    }

    @Test
    void rule6ADifferentLockInsideIsRefusedAndSeveralAreDeclaredUpFront() throws Exception {
        accounts.unit(Bank.account(42), a -> {
            assertThatThrownBy(() -> accounts.unit(Bank.account(43), b -> b.find(43)))
                    .isInstanceOf(UnfencedWriteException.class)
                    .hasMessageContaining("'account:43'")
                    .hasMessageContaining("fencedAll");
            assertThatThrownBy(() -> a.transfer(42, 43, 5))
                    .isInstanceOf(UnfencedWriteException.class)
                    .hasMessageContaining("List.of(LockName.of(\"account\", 42), LockName.of(\"account\", 43))");
            assertReleased(43);
        });

        accounts.unit(List.of(Bank.account(43), Bank.account(42), Bank.account(43)), a -> {
            a.transfer(42, 43, 5);
            a.save(a.find(42).plus(1));
        });
        proxy.transfer(43, 41, 50);

        assertThat(bank.balance(41)).isEqualTo(150);
        assertThat(bank.balance(42)).isEqualTo(96);
        assertThat(bank.balance(43)).isEqualTo(55);
    }

    // 7: this.

    @Test
    void rule7WhatTheRepositoryCallsOnItselfStaysInTheUnit() {
        proxy.close(42);

        assertThat(bank.balance(42)).isZero();
        bank.open();
        assertThatThrownBy(() -> accounts.unit(Bank.account(42), a -> {
                    bank.overtake(current().orElseThrow());
                    a.close(42);
                }))
                .satisfies(thrown ->
                        assertThat(FencelineException.in(thrown)).get().isInstanceOf(StaleTokenException.class));
        assertThat(bank.balance(42)).isEqualTo(100);
    }

    // 8: exceptions.

    @Test
    void rule8ExceptionsOfTheRepositoryComeOutAsTheyAre() {
        for (Throwable own : List.of(
                new Exception("checked"),
                new TimeoutException("of a subtype"),
                new IllegalStateException("unchecked"),
                new AssertionError("an error"),
                new InterruptedException("of its own"))) {
            assertThatThrownBy(() -> proxy.fail(42, own)).isSameAs(own).hasNoCause();
            // Jdbi sets the flag when an InterruptedException passes.
            Thread.interrupted();
            assertThatThrownBy(() -> accounts.unit(Bank.account(42), a -> a.fail(42, own)))
                    .isSameAs(own)
                    .hasNoCause();
            Thread.interrupted();
        }
        assertThatThrownBy(() -> proxy.withdraw(42, 1_000))
                .isInstanceOf(Overdrawn.class)
                .hasMessage("only 100 left");
        assertThat(bank.balance(42)).isEqualTo(100);
        assertReleased(42);
    }

    @Test
    void rule8ExceptionsOfTheWorkComeOutAsTheyAre() {
        IOException own = new IOException("of the work");

        assertThatThrownBy(() -> accounts.unit(Bank.account(42), a -> {
                    a.find(42);
                    throw own;
                }))
                .isSameAs(own)
                .hasNoCause();
    }

    @Test
    void rule8AnInterruptedWaitIsToldWithTheFlagSetWhereTheMethodCannotDeclareIt() throws Exception {
        try (FencedLease held =
                bank.locks().fenced(Bank.account(42)).tryAcquire().orElseThrow()) {
            Future<Boolean> flag = threads.submit(() -> {
                Thread.currentThread().interrupt();
                assertThatThrownBy(() -> proxy.close(42))
                        .isInstanceOf(LockNotAcquiredException.class)
                        .hasMessage(
                                "Lock 'account:42' not acquired: the thread was interrupted while waiting for it. Nothing is"
                                        + " held, nothing was done, and the interrupt flag is set: end what this thread does.")
                        .hasCauseInstanceOf(InterruptedException.class);
                boolean isSet = Thread.interrupted();
                Thread.currentThread().interrupt();
                assertThatThrownBy(() -> proxy.fail(42, new Exception())).isInstanceOf(InterruptedException.class);
                Thread.currentThread().interrupt();
                assertThatThrownBy(() -> accounts.unit(Bank.account(42), a -> a.find(42)))
                        .isInstanceOf(InterruptedException.class);
                return isSet;
            });
            assertThat(flag.get(20, TimeUnit.SECONDS)).isTrue();
            assertThat(held.isHeld()).isTrue();
        }
        assertThat(bank.balance(42)).isEqualTo(100);
    }

    // 9: threads.

    @Test
    void rule9AThreadThatAUnitStartsIsNotInIt() throws Exception {
        accounts.unit(Bank.account(42), a -> {
            Future<?> other = threads.submit(() -> a.save(new Account(42, 0)));
            assertThatThrownBy(() -> other.get(20, TimeUnit.SECONDS))
                    .isInstanceOf(ExecutionException.class)
                    .cause()
                    .isInstanceOf(UnfencedWriteException.class)
                    .hasMessageStartingWith("Accounts.save(Account) under 'account:42' refused outside of a unit");
        });

        assertThat(bank.balance(42)).isEqualTo(100);
    }

    // 10: many at once.

    @Test
    void rule10AllLocksOfAListAreClaimedBeforeTheFirstIsWritten() throws Exception {
        proxy.setAll(7, new Account(43, 0), new Account(41, 0), new Account(43, 0), new Account(42, 0));

        assertThat(bank.balance(41) + bank.balance(42) + bank.balance(43)).isEqualTo(21);
        bank.open();
        try (FencedLease held =
                bank.locks().fenced(Bank.account(43)).tryAcquire().orElseThrow()) {
            Accounts impatient = ruled(wrapping(Accounts.class))
                    .waitAtMost(Duration.ZERO)
                    .build()
                    .proxy();
            assertThatThrownBy(() -> impatient.setAll(7, new Account(41, 0), new Account(43, 0)))
                    .isInstanceOf(LockNotAcquiredException.class)
                    .hasMessageContaining("'account:43'");
            assertThat(held.isHeld()).isTrue();
        }
        assertThat(bank.balance(41)).as("the first was not written either").isEqualTo(100);
        accounts.unit(List.of(Bank.account(41), Bank.account(42)), a -> {
            a.saveAll(List.of(a.find(41).plus(1), a.find(42).plus(2)));
            assertThatThrownBy(() -> a.saveAll(List.of(new Account(41, 0), new Account(43, 0))))
                    .isInstanceOf(UnfencedWriteException.class);
        });
        assertThat(bank.balance(41) + bank.balance(42) + bank.balance(43)).isEqualTo(303);
    }

    @Test
    void rule10TooManyLocksNoLockAndElementsThatAreNoneAreRefused() {
        Accounts few = ruled(wrapping(Accounts.class)).lockAtMost(2).build().proxy();

        assertThatThrownBy(() -> few.setAll(7, new Account(41, 0), new Account(42, 0), new Account(43, 0)))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage(
                        "Accounts.setAll(long, Account[]) has 3 locks, and at most 2 are taken together. Nothing was acquired."
                                + " Work in smaller portions, use one lock for all of them (lockBy), or raise the limit (lockAtMost).");
        assertThatThrownBy(() -> proxy.setAll(7))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage(
                        "Accounts.setAll(long, Account[]) has nothing to lock: the list whose elements name its locks is empty."
                                + " Nothing was called. Leave the call out where there is nothing to write, or make it inside of a unit,"
                                + " where it passes.");
        assertThatThrownBy(() -> proxy.setAll(7, new Account(41, 0), null))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage(
                        "No lock can be found: element 2 of argument 2 is null, and no Account. Nothing was called.");
        assertThatThrownBy(() -> accounts.unit(List.of(), a -> a.find(42)))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageStartingWith("A unit needs a lock and has none.");
        assertThat(bank.balance(41)).isEqualTo(100);
    }

    @Test
    void rule10AnEmptyListPassesInAUnitAndIsRefusedOutside() throws Exception {
        assertThatThrownBy(() -> proxy.saveAll(List.of()))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageStartingWith("Accounts.saveAll(List) has nothing to lock: the list");
        accounts.unit(Bank.account(42), a -> {
            a.saveAll(List.of());
            a.setAll(7);
            a.save(a.find(42).plus(5));
        });
        assertThat(bank.balance(42)).isEqualTo(105);
    }

    @Test
    void rule10OneCoarseLockMayStandForAll() {
        Accounts coarse = wrapping(Accounts.class)
                .lockBy("*", arguments -> LockName.of("accounts"))
                .reads("find*")
                .selfContained("setAll")
                .build()
                .proxy();

        coarse.setAll(7, new Account(41, 0), new Account(42, 0));

        assertThat(bank.balance(41) + bank.balance(42)).isEqualTo(14);
        assertThatThrownBy(() -> coarse.save(41, 0))
                .isInstanceOf(UnfencedWriteException.class)
                .hasMessageContaining("accounts.unit(LockName.parse(\"accounts\"), a ->");
    }

    // 11: names.

    @Test
    void rule11ANullKeyIsRefused() {
        assertThatThrownBy(() -> proxy.save((Account) null))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("No lock can be found: argument 1 is null, and no Account. Nothing was called.");
        assertThatThrownBy(() -> proxy.deleteById(null))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageStartingWith("Part 1 of a lock name is null.");
        assertThatThrownBy(() -> proxy.saveAll(null))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("No lock can be found: argument 1 is null. Nothing was called.");
    }

    // 13: the rest.

    @Test
    void rule13MethodsOfObjectGoDirect() {
        assertThat(proxy)
                .isEqualTo(accounts.proxy())
                .hasSameHashCodeAs(accounts.proxy())
                .isNotEqualTo(ruled(wrapping(Accounts.class)).build().proxy());
        assertThat(proxy).hasToString("FencedRepository of Accounts");
    }

    @Test
    void rule13WithoutRetriesTheBodyRunsOnce() {
        AtomicInteger runs = new AtomicInteger();

        assertThatThrownBy(() -> accounts.unit(Bank.account(42), a -> {
                    runs.incrementAndGet();
                    throw new RetryableConflictException("lost a race", null);
                }))
                .isInstanceOf(RetryableConflictException.class);
        assertThat(runs).hasValue(1);
    }

    @Test
    void rule13EachRetryIsANewGrantAndRunsTheBodyAgain() throws Exception {
        FencedRepository<Accounts> stubborn =
                ruled(wrapping(Accounts.class)).retries(2).build();
        List<FencingToken> tokens = new ArrayList<>();

        stubborn.unit(Bank.account(42), a -> {
            tokens.add(current().orElseThrow());
            if (tokens.size() < 3) {
                bank.overtake(tokens.get(tokens.size() - 1));
            }
            a.save(a.find(42).plus(5));
        });

        assertThat(tokens).hasSize(3).isSortedAccordingTo(Comparator.comparing(FencingToken::value));
        assertThat(bank.balance(42)).as("written once").isEqualTo(105);
    }

    @Test
    void rule13WhatIsNoLostRaceIsNotRetriedAndRetriesEnd() {
        FencedRepository<Accounts> stubborn =
                ruled(wrapping(Accounts.class)).retries(2).build();
        AtomicInteger runs = new AtomicInteger();

        assertThatThrownBy(() -> stubborn.unit(Bank.account(42), a -> {
                    runs.incrementAndGet();
                    throw new IllegalStateException("of the user");
                }))
                .hasMessage("of the user");
        assertThat(runs.getAndSet(0)).isEqualTo(1);
        assertThatThrownBy(() -> stubborn.unit(Bank.account(42), a -> {
                    runs.incrementAndGet();
                    throw new RetryableConflictException("lost race " + runs, null);
                }))
                .hasMessage("lost race 3");
        assertThat(runs.getAndSet(0)).isEqualTo(3);
        assertThatThrownBy(() -> accounts.unit(
                        Bank.account(42),
                        outer -> stubborn.unit(Bank.account(42), inner -> {
                            runs.incrementAndGet();
                            throw new RetryableConflictException("lost a race", null);
                        })))
                .hasMessage("lost a race");
        assertThat(runs).as("who joins has no grant of his own").hasValue(1);
    }
}
