package dev.fenceline.verification.frameworks;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;

import dev.fenceline.FencelineException;
import dev.fenceline.FencingToken;
import dev.fenceline.TransactionRolledBackException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import javax.sql.DataSource;
import org.jooq.impl.DSL;
import org.junit.jupiter.api.Test;

/** jOOQ's own transactions on the data source of a fence. */
class JooqTest extends FrameworkContract {

    static {
        System.setProperty("org.jooq.no-logo", "true");
        System.setProperty("org.jooq.no-tips", "true");
    }

    @Override
    Framework builtOn(DataSource source) {
        return new JooqDsl(source);
    }

    private JooqDsl jooq() {
        return (JooqDsl) fenced;
    }

    @Test
    void aStatementWithoutATransactionIsOneOfItsOwn() {
        int account = ledger.account(100);
        List<FencingToken> tokens = new ArrayList<>();
        Throwable thrown = catchThrowable(() -> inUnit(account, claim -> {
            jooq().write(account, jooq().read(account) + 10);
            assertThat(ledger.balance(account)).isEqualTo(110);
            tokens.add(claim.token());
            tokens.add(ledger.overtake(account));
            jooq().write(account, 0);
        }));
        assertStale(thrown, tokens.get(0), tokens.get(1));
        assertThat(ledger.balance(account)).isEqualTo(110);
    }

    @Test
    void whatAStatementReturnsComesBackThroughTheFence() {
        int account = ledger.account(100);
        inUnit(
                account,
                claim -> assertThat(jooq().dsl()
                                .fetchSingle(
                                        "UPDATE account SET balance = balance + 10 WHERE id = ? RETURNING balance",
                                        account)
                                .get(0, Long.class))
                        .isEqualTo(110));
        assertThat(ledger.balance(account)).isEqualTo(110);
    }

    @Test
    void aLazyCursorIsFencedUntilItIsClosed() {
        int account = ledger.account(100);
        inUnit(account, claim -> {
            try (var cursor = jooq().dsl()
                    .select(DSL.field("balance", Long.class))
                    .from("account")
                    .where("id = " + account)
                    .fetchSize(1)
                    .fetchLazy()) {
                assertThat(Optional.ofNullable(cursor.fetchNext())).isPresent();
            }
            jooq().write(account, 110);
        });
        assertThat(ledger.balance(account)).isEqualTo(110);
    }

    @Test
    void anInnerTransactionIsASavepointAndCanBeUndoneAlone() {
        int account = ledger.account(100);
        inUnit(
                account,
                claim -> jooq().transaction(() -> {
                    jooq().write(account, 110);
                    assertThatThrownBy(() -> jooq().transaction(() -> {
                                jooq().write(account, 0);
                                throw new IllegalArgumentException("undone");
                            }))
                            .hasMessage("undone");
                    jooq().write(account, jooq().read(account) + 10);
                }));
        assertThat(ledger.balance(account)).isEqualTo(120);
    }

    @Test
    void aSwallowedFailureIsFoundAtTheCommit() {
        int account = ledger.account(100);
        Throwable thrown = catchThrowable(() -> inUnit(
                account,
                claim -> jooq().transaction(() -> {
                    jooq().write(account, 110);
                    assertThatThrownBy(jooq()::fail).hasMessageContaining("division by zero");
                })));
        assertThat(FencelineException.in(thrown)).get().isInstanceOf(TransactionRolledBackException.class);
        assertThat(ledger.balance(account)).isEqualTo(100);
    }
}
