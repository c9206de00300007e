package dev.fenceline.jdbc;

import static dev.fenceline.jdbc.ProtectedBank.run;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.fenceline.FencingToken;
import dev.fenceline.LockName;
import dev.fenceline.UnfencedWriteException;
import java.sql.Connection;
import java.util.List;
import org.jdbi.v3.core.Handle;
import org.jdbi.v3.core.Jdbi;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Every form of fenced work writes protected tables, each under its own locks and no others. */
@Tag("server")
class ProtectedFormsTest {

    static ProtectedBank bank;

    PostgresFence fence;
    FencingToken one;
    FencingToken two;

    @BeforeAll
    static void create() {
        bank = ProtectedBank.create();
    }

    @BeforeEach
    void fill() {
        bank.fill();
        fence = PostgresFence.on(bank.source());
        one = Grants.next(LockName.of("vault", 1));
        two = Grants.next(LockName.of("vault", 2));
    }

    @Test
    void aUnitOfSeveralLocksWritesTheRowsOfAllOfThem() throws Exception {
        fence.claim(List.of(two, one))
                .useTransaction(c -> run(c, "UPDATE vault SET balance = balance + 50 - 100 * (id - 1)"));

        assertThat(bank.contents()).startsWith("(1,150) (2,150) | ");
    }

    @Test
    void aSingleStatementWritesItsRowsAndIsRefusedForOthers() throws Exception {
        Claim<Connection> claim = fence.claim(one);

        assertThat(claim.update("UPDATE vault SET balance = ? WHERE id = ?", 7L, 1))
                .isEqualTo(1);
        assertThatThrownBy(() -> claim.update("UPDATE vault SET balance = ? WHERE id = ?", 7L, 2))
                .isInstanceOf(UnfencedWriteException.class)
                .hasMessageContaining("UPDATE on public.vault refused: it needs lock 'vault:2' (")
                .hasMessageContaining("Take the lock of every row that the work writes");
        Claim<Handle> onJdbi = JdbiFence.on(Jdbi.create(bank.source())).claim(two);
        assertThat(JdbiFence.on(Jdbi.create(bank.source()))
                        .update(onJdbi, "UPDATE vault SET balance = :b WHERE id = 2", q -> q.bind("b", 8)))
                .isEqualTo(1);
        assertThat(bank.contents()).startsWith("(1,7) (2,8) | ");
    }

    @Test
    void concurrentTransactionsAndStatementsWriteTheirRowsAndNoOthers() throws Exception {
        Claim<Connection> claim = fence.concurrent().claim(one);

        claim.useTransaction(c -> run(c, "UPDATE vault SET balance = 7 WHERE id = 1"));
        assertThat(claim.update("UPDATE vault SET balance = balance + 1 WHERE id = 1"))
                .isEqualTo(1);
        assertThatThrownBy(() -> claim.useTransaction(c -> run(c, "UPDATE vault SET balance = 7 WHERE id = 2")))
                .isInstanceOf(UnfencedWriteException.class);
        assertThatThrownBy(() -> claim.update("UPDATE vault SET balance = 7 WHERE id = 2"))
                .isInstanceOf(UnfencedWriteException.class);
        assertThat(bank.contents()).startsWith("(1,8) (2,200) | ");
    }
}
