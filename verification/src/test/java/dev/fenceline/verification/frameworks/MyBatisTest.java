package dev.fenceline.verification.frameworks;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;

import dev.fenceline.FencelineException;
import dev.fenceline.FencingToken;
import dev.fenceline.TransactionRolledBackException;
import java.util.ArrayList;
import java.util.List;
import javax.sql.DataSource;
import org.apache.ibatis.exceptions.PersistenceException;
import org.junit.jupiter.api.Test;

/** MyBatis with JDBC transactions on the data source of a fence. */
class MyBatisTest extends FrameworkContract {

    @Override
    Framework builtOn(DataSource source) {
        return new MyBatis(source);
    }

    @Test
    void aSessionThatCommitsEachStatementIsFencedStatementByStatement() {
        int account = ledger.account(100);
        List<FencingToken> tokens = new ArrayList<>();
        Throwable thrown = catchThrowable(() -> inUnit(account, claim -> {
            fenced.write(account, fenced.read(account) + 10);
            assertThat(ledger.balance(account)).isEqualTo(110);
            tokens.add(claim.token());
            tokens.add(ledger.overtake(account));
            fenced.write(account, 0);
        }));
        assertThat(thrown).isInstanceOf(PersistenceException.class);
        assertStale(thrown, tokens.get(0), tokens.get(1));
        assertThat(ledger.balance(account)).isEqualTo(110);
    }

    @Test
    void aSwallowedFailureIsFoundAtTheCommit() {
        int account = ledger.account(100);
        Throwable thrown = catchThrowable(() -> inUnit(
                account,
                claim -> fenced.transaction(() -> {
                    fenced.write(account, 110);
                    assertThatThrownBy(fenced::fail).isInstanceOf(PersistenceException.class);
                })));
        assertThat(FencelineException.in(thrown)).get().isInstanceOf(TransactionRolledBackException.class);
        assertThat(ledger.balance(account)).isEqualTo(100);
    }
}
