package dev.fenceline.jdbc;

import static dev.fenceline.jdbc.ProtectedBank.run;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.fenceline.FencelineEvent.WriteEnded;
import dev.fenceline.FencelineEvent.WriteOutcome;
import dev.fenceline.FencingToken;
import dev.fenceline.LockName;
import dev.fenceline.StaleTokenException;
import dev.fenceline.UnfencedWriteException;
import java.sql.Connection;
import java.sql.SQLException;
import org.jdbi.v3.core.Jdbi;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Fenced units write protected tables as they are; a write under another lock is a fault of the program, and is told as one. */
@Tag("server")
class ProtectedUnitTest {

    static ProtectedBank bank;

    RecordedEvents events = new RecordedEvents();
    PostgresFence fence;

    @BeforeAll
    static void create() {
        bank = ProtectedBank.create();
    }

    @BeforeEach
    void fill() {
        bank.fill();
        fence = PostgresFence.on(bank.source()).listener(events);
    }

    @Test
    void workUnderALockWritesTheRowsOfThatLock() throws Exception {
        fence.under(Grants.lock(LockName.of("vault", 1)))
                .run(c -> run(c, "UPDATE vault SET balance = balance + 1 WHERE id = 1"));
        JdbiFence.on(Jdbi.create(bank.source()))
                .under(Grants.lock(LockName.of("vault", 2)))
                .run(handle -> handle.execute("UPDATE vault SET balance = balance + 1 WHERE id = 2"));

        assertThat(bank.contents()).startsWith("(1,101) (2,201) | ");
    }

    @Test
    void aWriteUnderAnotherLockIsUnfencedAndNotToBeRetried() {
        FencingToken token = bank.claimed("vault", 2);

        assertThatThrownBy(() -> fence.resume(token).useTransaction(c -> {
                    run(c, "UPDATE vault SET balance = 0 WHERE id = 2");
                    run(c, "UPDATE vault SET balance = 0 WHERE id = 1");
                }))
                .isInstanceOf(UnfencedWriteException.class)
                .hasMessageStartingWith(
                        "Transaction under token " + token + " on PostgreSQL guard 'vault:2' rolled back: ERROR:"
                                + " UPDATE on public.vault refused: it needs lock 'vault:1' (")
                .hasMessageEndingWith(
                        "(SQLSTATE FL001). Nothing of it happened. Take the lock of every row that the work writes"
                                + " (fencedAll for several).")
                .hasCauseInstanceOf(SQLException.class);
        assertThatThrownBy(() -> fence.resume(token).useTransaction(c -> {
                    try {
                        run(c, "UPDATE vault SET balance = 0 WHERE id = 1");
                    } catch (SQLException swallowed) {
                        // As work does that takes every failure for a duplicate.
                    }
                }))
                .isInstanceOf(UnfencedWriteException.class)
                .hasMessageContaining("Take the lock of every row");
        assertThat(bank.contents()).startsWith("(1,100) (2,200) | ");
        assertThat(events.of(WriteEnded.class))
                .extracting(WriteEnded::outcome)
                .containsExactly(WriteOutcome.ROLLED_BACK, WriteOutcome.ROLLED_BACK);
    }

    @Test
    void aStaleUnitIsStaleThereToo() {
        Claim<Connection> stale = fence.claim(Grants.next(LockName.of("vault", 1)));
        bank.claimed("vault", 1);

        assertThatThrownBy(() -> stale.useTransaction(c -> run(c, "UPDATE vault SET balance = 0 WHERE id = 1")))
                .isInstanceOf(StaleTokenException.class);
    }
}
