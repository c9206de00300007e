package dev.fenceline.jdbc;

import dev.fenceline.FencelineListener;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Objects;
import java.util.Optional;
import javax.sql.DataSource;

/**
 * The fence in PostgreSQL for plain JDBC. Make one per data source and keep it.
 *
 * <pre>{@code
 * PostgresFence fence = PostgresFence.on(dataSource);
 * fence.under(locks.fenced(LockName.of("account", 42))).run(connection -> {
 *     // read, compute, write
 * });
 * }</pre>
 */
public final class PostgresFence extends GuardFence<Connection> {

    private PostgresFence(ConnectionSource<Connection> source, FenceSettings settings) {
        super(source, settings);
    }

    /**
     * Makes a fence. The schema is installed by the module {@code fenceline-migrations}; nothing is sent yet.
     *
     * @param dataSource hands out connections of the PostgreSQL driver to the primary, pooled or not, outside of any surrounding
     *     transaction
     * @return a fence with the defaults
     */
    public static PostgresFence on(DataSource dataSource) {
        return new PostgresFence(
                new FromDataSource(Objects.requireNonNull(dataSource, "dataSource")), FenceSettings.defaults());
    }

    @Override
    public PostgresFence claimTimeout(Duration timeout) {
        return new PostgresFence(source(), settings().withClaimTimeout(timeout));
    }

    @Override
    public PostgresFence transactionTimeout(Duration timeout) {
        return new PostgresFence(source(), settings().withTransactionTimeout(timeout));
    }

    @Override
    public PostgresFence listener(FencelineListener listener) {
        return new PostgresFence(source(), settings().withListener(listener));
    }

    private record FromDataSource(DataSource dataSource) implements ConnectionSource<Connection> {

        @Override
        public Session<Connection> open(TransactionGuard guard) throws SQLException {
            Connection connection = dataSource.getConnection();
            return Session.of(connection, GuardedConnection.around(connection, guard), connection::close);
        }

        @Override
        public Object origin() {
            return dataSource;
        }

        @Override
        public Optional<SQLException> driverFailure(Throwable escaped) {
            return escaped instanceof SQLException failure ? Optional.of(failure) : Optional.empty();
        }
    }
}
