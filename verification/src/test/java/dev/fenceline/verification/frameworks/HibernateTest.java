package dev.fenceline.verification.frameworks;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import dev.fenceline.FencingToken;
import dev.fenceline.jdbc.PostgresFence;
import jakarta.persistence.RollbackException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import javax.sql.DataSource;
import org.hibernate.cfg.JdbcSettings;
import org.hibernate.cfg.JpaComplianceSettings;
import org.junit.jupiter.api.Test;

/** JPA on the data source of a fence: Hibernate alone, with transactions of its EntityManager. */
class HibernateTest extends FrameworkContract {

    @Override
    Framework builtOn(DataSource source) {
        // Without it a commit that Hibernate turns into a rollback says nothing of it.
        return new Hibernate(source, Map.of(JpaComplianceSettings.JPA_TRANSACTION_COMPLIANCE, "true"));
    }

    @Test
    void whatIsFlushedAtTheCommitIsRefusedThere() {
        int account = ledger.account(100);
        List<FencingToken> tokens = new ArrayList<>();
        Throwable thrown = catchThrowable(() -> inUnit(account, claim -> {
            tokens.add(claim.token());
            fenced.transaction(() -> {
                fenced.write(account, 110);
                ledger.endIdleTransactions();
                tokens.add(ledger.overtake(account));
            });
        }));
        assertThat(thrown).isInstanceOf(RollbackException.class);
        assertStale(thrown, tokens.get(0), tokens.get(1));
        assertThat(ledger.balance(account)).isEqualTo(100);
    }

    @Test
    void whatIsReadWithoutATransactionIsReadUnderTheClaim() {
        int account = ledger.account(100);
        inUnit(account, claim -> {
            long read = fenced.read(account);
            fenced.transaction(() -> fenced.write(account, read + 10));
        });
        assertThat(ledger.balance(account)).isEqualTo(110);
    }

    @Test
    void aSwallowedFailureIsFoundAtTheCommit() {
        int account = ledger.account(100);
        assertThatThrownBy(() -> inUnit(
                        account,
                        claim -> fenced.transaction(() -> {
                            fenced.write(account, 110);
                            assertThatThrownBy(fenced::fail).hasStackTraceContaining("division by zero");
                        })))
                .isInstanceOf(RollbackException.class);
        assertThat(ledger.balance(account)).isEqualTo(100);
    }

    /** Hibernate sees that a statement failed, rolls back where it was to commit, and returns. A fence is only told to roll back. */
    @Test
    void aSwallowedFailureIsLiedAboutByHibernateUnlessItComplies() {
        int account = ledger.account(100);
        Framework lax = new Hibernate(fence.dataSource(), Map.of());
        inUnit(
                account,
                claim -> lax.transaction(() -> {
                    lax.write(account, 110);
                    assertThatThrownBy(lax::fail).hasStackTraceContaining("division by zero");
                }));
        assertThat(ledger.balance(account)).isEqualTo(100);
        lax.close();
    }

    @Test
    void aPoolWithoutAutoCommitIsFencedJustTheSame() throws Exception {
        HikariConfig config = ledger.pool();
        config.setAutoCommit(false);
        try (HikariDataSource pool = new HikariDataSource(config)) {
            PostgresFence overPool = PostgresFence.on(pool);
            Framework hibernate = new Hibernate(
                    overPool.dataSource(), Map.of(JdbcSettings.CONNECTION_PROVIDER_DISABLES_AUTOCOMMIT, "true"));
            int account = ledger.account(100);
            overPool.unit(Ledger.locks().fenced(Ledger.name(account)))
                    .waitAtMost(Duration.ofSeconds(20))
                    .run(claim -> {
                        hibernate.transaction(() -> hibernate.write(account, hibernate.read(account) + 10));
                        hibernate.transaction(() -> hibernate.write(account, hibernate.read(account) + 20));
                    });
            assertThat(ledger.balance(account)).isEqualTo(130);
            hibernate.close();
        }
    }
}
