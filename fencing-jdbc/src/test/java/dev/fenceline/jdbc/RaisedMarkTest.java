package dev.fenceline.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.fenceline.FencedLease;
import dev.fenceline.FencedLock;
import dev.fenceline.StaleTokenException;
import dev.fenceline.migrations.FenceOperations;
import dev.fenceline.migrations.Mark;
import java.sql.Connection;
import java.time.Duration;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** A mark that an operator has raised shuts out who held the lock, and the lock server's next grants pass it by themselves. */
@Tag("server")
class RaisedMarkTest {

    static TestDatabase database;

    PostgresFence fence;
    FencedLock lock;
    FenceOperations operations;

    @BeforeAll
    static void create() {
        database = TestDatabase.create();
    }

    @BeforeEach
    void grant() {
        fence = PostgresFence.on(database.source());
        lock = Grants.lock(Grants.freshLock());
        operations = FenceOperations.on(database.source());
        database.account(1, 100);
    }

    @Test
    void theHolderIsStaleAndTheLockPassesTheMarkAtItsSecondCallAtTheLatest() throws Exception {
        try (FencedLease lease = lock.acquireWithin(Duration.ofSeconds(5))) {
            Claim<Connection> claim = fence.claim(lease);
            JdbcWork.add(claim, 1, 10);

            Mark raised = operations.raise(lock.name());

            assertThat(raised.token().value()).isGreaterThan(lease.token().value());
            assertThatThrownBy(() -> JdbcWork.add(claim, 1, 10))
                    .isInstanceOf(StaleTokenException.class)
                    .hasMessageContaining(Long.toString(raised.token().value()));
            assertThatThrownBy(() -> fence.claim(lease.token()))
                    .isInstanceOfSatisfying(
                            StaleTokenException.class,
                            stale -> assertThat(stale.byOperator()).isTrue())
                    .hasMessageContaining(", to which an operator has raised the mark.");
        }
        // Its clock is behind the mark by S + K, and it is told so by the refusal.
        assertThatThrownBy(() -> fence.under(lock).run(c -> TestDatabase.write(c, 1, 0)))
                .isInstanceOf(StaleTokenException.class);

        fence.under(lock).run(c -> TestDatabase.write(c, 1, 120));

        assertThat(database.balance(1)).isEqualTo(120);
        assertThat(operations.mark(lock.name()).orElseThrow().raised()).isFalse();
    }

    @Test
    void afterARestoreEveryHolderIsStaleAndWorkGoesOn() throws Exception {
        try (FencedLease lease = lock.acquireWithin(Duration.ofSeconds(5))) {
            Claim<Connection> claim = fence.claim(lease);

            assertThat(operations.afterRestore(batch -> {}).isComplete()).isTrue();

            assertThatThrownBy(() -> JdbcWork.add(claim, 1, 10)).isInstanceOf(StaleTokenException.class);
        }
        assertThatThrownBy(() -> fence.under(lock).run(c -> TestDatabase.write(c, 1, 0)))
                .isInstanceOf(StaleTokenException.class);
        fence.under(lock).run(c -> TestDatabase.write(c, 1, 110));
        assertThat(database.balance(1)).isEqualTo(110);
    }
}
