package dev.fenceline.verification.frameworks;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;

import dev.fenceline.FencelineException;
import dev.fenceline.FencingToken;
import dev.fenceline.TransactionRolledBackException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import javax.sql.DataSource;
import org.junit.jupiter.api.Test;
import org.springframework.dao.DataIntegrityViolationException;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.support.GeneratedKeyHolder;
import org.springframework.jdbc.support.KeyHolder;
import org.springframework.transaction.TransactionDefinition;

/** JdbcTemplate and TransactionTemplate on the data source of a fence. */
class SpringJdbcTest extends FrameworkContract {

    @Override
    Framework builtOn(DataSource source) {
        return new SpringJdbc(source);
    }

    private SpringJdbc spring() {
        return (SpringJdbc) fenced;
    }

    @Test
    void aStatementWithoutATransactionIsOneOfItsOwn() {
        int account = ledger.account(100);
        List<FencingToken> tokens = new ArrayList<>();
        Throwable thrown = catchThrowable(() -> inUnit(account, claim -> {
            spring().write(account, spring().read(account) + 10);
            assertThat(ledger.balance(account)).isEqualTo(110);
            tokens.add(claim.token());
            tokens.add(ledger.overtake(account));
            spring().write(account, 0);
        }));
        assertStale(thrown, tokens.get(0), tokens.get(1));
        assertThat(ledger.balance(account)).isEqualTo(110);
    }

    @Test
    void aBatchAndGeneratedKeysAreFencedToo() {
        int account = ledger.account(100);
        KeyHolder generated = new GeneratedKeyHolder();
        inUnit(account, claim -> {
            int[] counts = spring().jdbc
                    .batchUpdate(
                            "UPDATE account SET balance = balance + ? WHERE id = ?",
                            List.of(new Object[] {1, account}, new Object[] {2, account}));
            assertThat(counts).containsExactly(1, 1);
            spring().jdbc
                    .update(
                            connection -> connection.prepareStatement(
                                    "UPDATE account SET balance = balance + 10 WHERE id = " + account,
                                    new String[] {"balance"}),
                            generated);
        });
        assertThat(generated.getKeys()).isEqualTo(Map.of("balance", 113L));
        assertThat(ledger.balance(account)).isEqualTo(113);
    }

    @Test
    void anInnerTransactionThatIsNestedCanBeUndoneAlone() {
        int account = ledger.account(100);
        inUnit(
                account,
                claim -> spring().transaction(() -> {
                    spring().write(account, 110);
                    assertThatThrownBy(() -> spring().transaction(TransactionDefinition.PROPAGATION_NESTED, () -> {
                                spring().write(account, 0);
                                throw new IllegalArgumentException("undone");
                            }))
                            .hasMessage("undone");
                    spring().write(account, spring().read(account) + 10);
                }));
        assertThat(ledger.balance(account)).isEqualTo(120);
    }

    @Test
    void anInnerFailureThatIsUndoneWithItsSavepointSpoilsNothing() {
        int account = ledger.account(100);
        inUnit(
                account,
                claim -> spring().transaction(() -> {
                    spring().write(account, 110);
                    assertThatThrownBy(() -> spring().transaction(TransactionDefinition.PROPAGATION_NESTED, () -> {
                                spring().fail();
                                return "not reached";
                            }))
                            .hasStackTraceContaining("division by zero");
                    spring().write(account, spring().read(account) + 10);
                }));
        assertThat(ledger.balance(account)).isEqualTo(120);
    }

    @Test
    void aTransactionBesideOneThatIsOpenWouldWaitForItAndIsRefused() {
        int account = ledger.account(100);
        assertThatThrownBy(() -> inUnit(
                        account,
                        claim -> spring().transaction(() -> {
                            spring().write(account, 110);
                            spring().transaction(TransactionDefinition.PROPAGATION_REQUIRES_NEW, () -> {
                                spring().write(account, 120);
                                return "not reached";
                            });
                        })))
                .hasStackTraceContaining("of the same lock, and would wait for itself");
        assertThat(ledger.balance(account)).isEqualTo(100);
    }

    /** Spring finds the connection of a transaction by its data source. */
    @Test
    void aTemplateAndAManagerThatWereEachGivenADataSourceOfTheFenceShareTheirTransaction() {
        int account = ledger.account(100);
        JdbcTemplate beside = new JdbcTemplate(fence.dataSource());
        Throwable thrown = catchThrowable(() -> inUnit(
                account,
                claim -> spring().transaction(() -> {
                    beside.update("UPDATE account SET balance = 0 WHERE id = ?", account);
                    throw new IllegalStateException("rolls back");
                })));
        assertThat(thrown).hasMessage("rolls back");
        assertThat(ledger.balance(account)).isEqualTo(100);
    }

    @Test
    void aReadOnlyTransactionReadsAndWritesNothing() {
        int account = ledger.account(100);
        inUnit(account, claim -> {
            spring().transaction(() -> spring().write(account, 110));
            assertThat(spring().readOnly(() -> spring().read(account))).isEqualTo(110);
            assertThatThrownBy(() -> spring().readOnly(() -> {
                        spring().write(account, 0);
                        return "not reached";
                    }))
                    .hasStackTraceContaining("read-only transaction");
            spring().transaction(() -> spring().write(account, 120));
        });
        assertThat(ledger.balance(account)).isEqualTo(120);
    }

    @Test
    void aTransactionThatIsOpenAlreadyLetsNoUnitBegin() {
        int account = ledger.account(100);
        assertThatThrownBy(() -> spring().transaction(() -> {
                    long read = spring().read(account);
                    inUnit(account, claim -> spring().write(account, read + 10));
                }))
                .satisfies(thrown -> assertThat(FencelineException.in(thrown)).isPresent())
                .hasMessageContaining("account:" + account);
        assertThat(ledger.balance(account)).isEqualTo(100);
        assertThat(Ledger.locks().fenced(Ledger.name(account)).tryAcquire())
                .as("the lock was not touched")
                .hasValueSatisfying(lease -> lease.close());
    }

    @Test
    void aSwallowedFailureIsFoundAtTheCommit() {
        int account = ledger.account(100);
        Throwable thrown = catchThrowable(() -> inUnit(
                account,
                claim -> spring().transaction(() -> {
                    spring().write(account, 110);
                    assertThatThrownBy(spring()::fail).isInstanceOf(DataIntegrityViolationException.class);
                })));
        assertThat(FencelineException.in(thrown)).get().isInstanceOf(TransactionRolledBackException.class);
        assertThat(ledger.balance(account)).isEqualTo(100);
    }

    /** Without the fence, on the same servers: nothing is thrown, and nothing is written. */
    @Test
    void aSwallowedFailureIsLiedAboutOnAPlainDataSource() {
        int account = Ledger.OPEN.account(100);
        plain.transaction(() -> {
            plain.write(account, 110);
            assertThatThrownBy(plain::fail).isInstanceOf(RuntimeException.class);
        });
        assertThat(Ledger.OPEN.balance(account)).isEqualTo(100);
    }
}
