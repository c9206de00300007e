package dev.fenceline.examples.pausedwriter;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import dev.fenceline.jdbc.PostgresFence;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.EnumMap;
import java.util.Map;
import org.postgresql.ds.PGSimpleDataSource;

/** The database side of one writer: a small pool for each run, whose tables lie in a schema of their own. */
final class WriterSessions implements AutoCloseable {

    /** What the daily statement says. */
    record Statement(long accounts, long sumCents) {}

    private static final int POOL_SIZE = 2;
    private static final String STATEMENT = "SELECT count(*), sum(balance_cents) FROM account";

    private final Map<Mode, HikariDataSource> pools = new EnumMap<>(Mode.class);
    private final Books books;
    private final PostgresFence fence;

    private WriterSessions(String jdbcUrl, String name) {
        this.books = new Books(name);
        for (Mode mode : Mode.values()) {
            pools.put(mode, pool(jdbcUrl, name, mode));
        }
        this.fence = PostgresFence.on(pool(Mode.FENCED)).claimTimeout(Writer.LEASE);
    }

    static WriterSessions connect(String jdbcUrl, String name) {
        return new WriterSessions(jdbcUrl, name);
    }

    Session of(Job job) {
        if (job.mode() != Mode.FENCED) {
            return new UnfencedSession(pool(job.mode()), books);
        }
        boolean apart =
                job.scene() != Scene.BULK && Staging.of(job.mode(), job.scene()) == Staging.BETWEEN_TRANSACTIONS;
        FencedSession.Shape shape = apart ? FencedSession.Shape.TWO_TRANSACTIONS : FencedSession.Shape.ONE_TRANSACTION;
        return new FencedSession(fence, books, shape);
    }

    Statement statement() throws SQLException {
        try (Connection connection = pool(Mode.FENCED).getConnection();
                PreparedStatement query = connection.prepareStatement(STATEMENT);
                ResultSet row = query.executeQuery()) {
            row.next();
            return new Statement(row.getLong(1), row.getLong(2));
        }
    }

    @Override
    public void close() {
        pools.values().forEach(HikariDataSource::close);
    }

    private HikariDataSource pool(Mode mode) {
        HikariDataSource pool = pools.get(mode);
        if (pool == null) {
            throw new IllegalStateException("There is no pool for the run '" + mode.title() + "'.");
        }
        return pool;
    }

    private static HikariDataSource pool(String jdbcUrl, String name, Mode mode) {
        PGSimpleDataSource database = new PGSimpleDataSource();
        database.setUrl(jdbcUrl);
        database.setApplicationName(applicationName(name));
        database.setCurrentSchema(mode.schema());
        HikariConfig config = new HikariConfig();
        config.setDataSource(database);
        config.setMaximumPoolSize(POOL_SIZE);
        config.setMinimumIdle(0);
        return new HikariDataSource(config);
    }

    /** By this name the conductor finds the writer's sessions in the database. */
    static String applicationName(String writer) {
        return "writer " + writer;
    }
}
