package dev.fenceline.examples.springboot;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;

import dev.fenceline.FencedLease;
import dev.fenceline.FencelineException;
import dev.fenceline.FencingToken;
import dev.fenceline.LockName;
import dev.fenceline.Locks;
import dev.fenceline.TransactionRolledBackException;
import dev.fenceline.UnfencedWriteException;
import dev.fenceline.jdbc.PostgresFence;
import jakarta.persistence.EntityManager;
import jakarta.persistence.EntityManagerFactory;
import java.io.IOException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Supplier;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.springframework.dao.CannotAcquireLockException;
import org.springframework.http.ProblemDetail;
import org.springframework.http.ResponseEntity;
import org.springframework.jdbc.UncategorizedSQLException;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.orm.jpa.EntityManagerHolder;
import org.springframework.transaction.UnexpectedRollbackException;
import org.springframework.transaction.support.TransactionSynchronizationManager;

/** 12 of the design's list: what the aspect does around a method, and where it refuses to begin. */
@Tag("server")
class FencedAspectTest {

    private final Probe probe = RunningService.bean(Probe.class);
    private final Locks locks = RunningService.bean(Locks.class);
    private final PostgresFence fence = RunningService.bean(PostgresFence.class);
    private final long id = RunningService.BANK.account(100);
    private final LockName lock = LockName.of("account", id);

    private FencingToken claimed() {
        return fence.current().orElseThrow().token();
    }

    private void assertUntouched() {
        try (FencedLease lease = locks.fenced(lock).tryAcquire().orElseThrow()) {
            assertThat(lease.token().lock()).isEqualTo(lock);
        }
    }

    @Test
    void theMethodIsAUnitOfTheLockThatItsKeyNames() throws Exception {
        assertThat(probe.fenced(id, this::claimed).lock()).isEqualTo(lock);
        assertThat(fence.current()).isEmpty();
        assertUntouched();
    }

    @Test
    void theKeyMayLieInsideOfAnArgument() {
        assertThat(probe.ofAnArgument(new Probe.Pair("a:b"))).isEqualTo("a:b");
    }

    @Test
    void aKeyThatIsNullIsRefused() {
        assertThatThrownBy(() -> probe.fenced(null, () -> "not reached"))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("@Fenced(\"account\") on fenced: the key #id is null, which is the lock of nothing."
                        + " Was null passed, is the name wrong, or was it compiled without -parameters?");
    }

    @Test
    void aKeyThatIsNoArgumentIsRefusedEvenWhereTheServiceHasSuchAProperty() {
        assertThatThrownBy(() -> probe.withoutAHash(id))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageStartingWith("@Fenced(\"account\") on withoutAHash: the key id is none: EL1008E")
                .hasMessageEndingWith("An argument is written #name.");
        assertThatThrownBy(() -> probe.ofAnArgument(null))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageStartingWith("@Fenced(\"account\") on ofAnArgument: the key #pair.left is none: EL1007E");
        assertThatThrownBy(() -> probe.withoutAnEnd(id))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageStartingWith("@Fenced(\"account\") on withoutAnEnd: the key #id. is none: ");
    }

    @Test
    void ofSeveralKeysAllAreHeld() {
        long other = RunningService.BANK.account(100);
        probe.both(id, other, () -> {
            for (long each : new long[] {id, other}) {
                assertThat(locks.fenced(LockName.of("account", each)).tryAcquire())
                        .isEmpty();
            }
        });
        assertUntouched();
    }

    @Test
    void theSameKeyTwiceIsOneLock() {
        probe.both(id, id, () -> assertThat(claimed().lock()).isEqualTo(lock));
    }

    @Test
    void ofSeveralKeysARefusalNamesAll() {
        long other = RunningService.BANK.account(100);
        assertThatThrownBy(() -> probe.inTransaction(() -> {
                    probe.both(id, other, () -> {});
                    return "not reached";
                }))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageStartingWith("both under '" + lock + "' and 'account:" + other + "' refused before");
    }

    @Test
    void insideOfATransactionItIsRefusedBeforeTheLockIsTouched() {
        assertThatThrownBy(() -> probe.inTransaction(() -> probe.fenced(id, () -> "not reached")))
                .isInstanceOf(IllegalStateException.class)
                .hasMessage("fenced under '" + lock
                        + "' refused before a lock was acquired: a transaction is active already, and what was read"
                        + " there may be older than the lock. Call it from outside of @Transactional; if it is the"
                        + " method's own, then the aspect runs inside of @Transactional: give it @Order(100).");
        assertUntouched();
    }

    @Test
    void whereAnEntityManagerIsOpenAlreadyItIsRefusedBeforeTheLockIsTouched() {
        EntityManagerFactory factory = RunningService.bean(EntityManagerFactory.class);
        try (EntityManager view = factory.createEntityManager()) {
            TransactionSynchronizationManager.bindResource(
                    factory, new EntityManagerHolder(view)); // as open-in-view does
            assertThatThrownBy(() -> probe.fenced(id, () -> "not reached"))
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessage("fenced under '" + lock
                            + "' refused before a lock was acquired: an EntityManager is open already, and what was"
                            + " read there may be older than the lock. Set spring.jpa.open-in-view=false.");
        } finally {
            TransactionSynchronizationManager.unbindResource(factory);
        }
        assertUntouched();
    }

    @Test
    void anInnerMethodOfTheSameLockJoinsAlsoInsideOfATransaction() throws Exception {
        FencingToken inner = probe.fenced(id, () -> {
            FencingToken outer = claimed();
            return probe.inTransaction(() -> probe.fenced(id, () -> {
                assertThat(claimed()).isEqualTo(outer);
                return outer;
            }));
        });
        assertThat(inner.lock()).isEqualTo(lock);
    }

    @Test
    void anInnerMethodOfAnotherLockIsRefused() {
        long other = RunningService.BANK.account(100);
        assertThatThrownBy(() -> probe.fenced(id, () -> probe.fenced(other, () -> "not reached")))
                .isInstanceOf(UnfencedWriteException.class)
                .hasMessageContaining("account:" + other);
        assertUntouched();
    }

    @Test
    void exceptionsOfTheMethodComeOutAsTheyAre() {
        IOException checked = new IOException("checked");
        assertThatThrownBy(() -> probe.fenced(id, () -> {
                    throw checked;
                }))
                .isSameAs(checked);
        Error error = new AssertionError("error");
        assertThatThrownBy(() -> probe.quiet(id, () -> {
                    throw error;
                }))
                .isSameAs(error);
        InterruptedException interrupted = new InterruptedException("the method's own");
        assertThatThrownBy(() -> probe.fenced(id, () -> {
                    throw interrupted;
                }))
                .isSameAs(interrupted);
        assertUntouched();
    }

    @Test
    void aFailureThatTheMethodSwallowsIsFoundAtTheCommitWhicheverWayItCame() {
        JdbcTemplate jdbc = RunningService.bean(JdbcTemplate.class);
        EntityManager entities = RunningService.bean(EntityManager.class);
        assertThat(swallowed(() -> jdbc.execute("SELECT 1 / 0")))
                .satisfies(thrown -> assertThat(FencelineException.in(thrown))
                        .get()
                        .isInstanceOf(TransactionRolledBackException.class));
        assertThat(swallowed(() -> entities.createNativeQuery("SELECT 1 / 0").getResultList()))
                .isInstanceOf(UnexpectedRollbackException.class);
        assertThat(RunningService.BANK.balance(id)).isEqualTo(100);
    }

    @Test
    void aWriteThatGoesPastTheAspectIsRefusedByAProtectedTableAndTheAnswerSaysWhichLockItNeeds() {
        Bank bank = RunningService.BANK;
        bank.execute("CREATE TABLE vault (id bigint PRIMARY KEY, cents bigint NOT NULL)");
        bank.execute("INSERT INTO vault VALUES (1, 100)");
        bank.execute("SELECT fenceline.protect('vault', 'vault', ARRAY['id'], 'enforce')");
        JdbcTemplate jdbc = RunningService.bean(JdbcTemplate.class);
        Throwable thrown = catchThrowable(() -> jdbc.update("UPDATE vault SET cents = 0"));
        assertThat(thrown).isInstanceOf(UncategorizedSQLException.class);

        ResponseEntity<ProblemDetail> answer = new Refusals().answer((RuntimeException) thrown);

        assertThat(answer.getStatusCode().value()).isEqualTo(500);
        assertThat(answer.getBody())
                .satisfies(problem -> assertThat(problem.getDetail())
                        .startsWith("ERROR: UPDATE on public.vault refused: it needs lock 'vault:1'")
                        .endsWith("and the locks that this transaction has entered are: none"));
        assertThat(bank.number("SELECT cents FROM vault")).isEqualTo(100);
    }

    private Throwable swallowed(Runnable failure) {
        JdbcTemplate jdbc = RunningService.bean(JdbcTemplate.class);
        return catchThrowable(() -> probe.fenced(
                id,
                () -> probe.inTransaction(() -> {
                    jdbc.update("UPDATE account SET balance_cents = 0 WHERE id = ?", id);
                    assertThatThrownBy(failure::run).hasStackTraceContaining("division by zero");
                    return "done";
                })));
    }

    @Test
    void whoIsInterruptedWhileWaitingForTheLockIsToldAndKeepsTheFlagWhereTheMethodDoesNotDeclareIt() throws Exception {
        AtomicBoolean flag = new AtomicBoolean();
        Throwable thrown = interruptedWhileWaiting(() -> {
            Throwable caught = catchThrowable(() -> probe.quiet(id, () -> {}));
            flag.set(Thread.currentThread().isInterrupted());
            return caught;
        });
        assertThat(thrown)
                .isInstanceOf(CannotAcquireLockException.class)
                .hasMessage("quiet under '" + lock + "' was interrupted while it waited. Nothing was done.")
                .hasCauseInstanceOf(InterruptedException.class);
        assertThat(flag).isTrue();
    }

    @Test
    void whoIsInterruptedWhileWaitingForTheLockIsToldByTheExceptionThatTheMethodDeclares() throws Exception {
        assertThat(interruptedWhileWaiting(() -> catchThrowable(() -> probe.fenced(id, () -> "not reached"))))
                .isInstanceOf(InterruptedException.class);
    }

    private Throwable interruptedWhileWaiting(Supplier<Throwable> call) throws Exception {
        CompletableFuture<Throwable> thrown = new CompletableFuture<>();
        try (FencedLease lease = locks.fenced(lock).acquire()) {
            Thread thread = new Thread(() -> thrown.complete(call.get()), "waiter");
            thread.start();
            // An interrupt that comes early is found by the wait when it begins.
            thread.interrupt();
            assertThat(thrown.get(Instance.LIMIT.toSeconds(), TimeUnit.SECONDS)).isNotNull();
            assertThat(lease.token().lock()).isEqualTo(lock);
        }
        return thrown.get();
    }
}
