package dev.fenceline.verification.frameworks;

import static java.util.Objects.requireNonNull;

import java.util.function.Supplier;
import javax.sql.DataSource;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.DataSourceTransactionManager;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.support.TransactionTemplate;

/** Spring's JdbcTemplate and its transaction manager for one data source. */
final class SpringJdbc implements Framework {

    final JdbcTemplate jdbc;
    private final DataSourceTransactionManager manager;

    SpringJdbc(DataSource source) {
        this.jdbc = new JdbcTemplate(source);
        this.manager = new DataSourceTransactionManager(source);
    }

    @Override
    public <T> T transaction(Supplier<T> work) {
        return transaction(TransactionDefinition.PROPAGATION_REQUIRED, work);
    }

    <T> T transaction(int propagation, Supplier<T> work) {
        TransactionTemplate transactions = new TransactionTemplate(manager);
        transactions.setPropagationBehavior(propagation);
        return requireNonNull(transactions.execute(status -> work.get()));
    }

    <T> T readOnly(Supplier<T> work) {
        TransactionTemplate transactions = new TransactionTemplate(manager);
        transactions.setReadOnly(true);
        return requireNonNull(transactions.execute(status -> work.get()));
    }

    @Override
    public long read(int account) {
        return requireNonNull(jdbc.queryForObject("SELECT balance FROM account WHERE id = ?", Long.class, account));
    }

    @Override
    public void write(int account, long balance) {
        jdbc.update("UPDATE account SET balance = ? WHERE id = ?", balance, account);
    }

    @Override
    public void fail() {
        jdbc.execute("SELECT 1 / 0");
    }

    @Override
    public void close() {}
}
