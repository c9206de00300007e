package dev.fenceline.verification.frameworks;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import dev.fenceline.FencedLease;
import dev.fenceline.FencelineListener;
import dev.fenceline.FencingToken;
import dev.fenceline.LockName;
import dev.fenceline.LockOptions;
import dev.fenceline.Locks;
import dev.fenceline.jdbc.PostgresFence;
import dev.fenceline.lock.RedisLocks;
import dev.fenceline.migrations.FenceMigrations;
import dev.fenceline.testkit.SharedServers;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.concurrent.atomic.AtomicInteger;
import javax.sql.DataSource;
import org.postgresql.ds.PGSimpleDataSource;

/** A database with the fence and a table of accounts, reached through a small pool; and the locks of the accounts. */
final class Ledger {

    /** One whose table is protected: what is not fenced is refused there. */
    static final Ledger PROTECTED = new Ledger("protected");

    /** One whose table anybody may write, for those who do without the fence. */
    static final Ledger OPEN = new Ledger("open");

    private static final AtomicInteger ACCOUNTS = new AtomicInteger();
    private static final Locks LOCKS = locks("frameworks");
    private static final Locks NEWER = locks("frameworks-newer");
    private static final String APPLICATION = "frameworks";

    private final DataSource owner;
    private final String database;
    private final HikariDataSource pool;

    private Ledger(String kind) {
        this.database = SharedServers.postgres().newDatabase();
        this.owner = SharedServers.postgres().dataSource(database);
        FenceMigrations.on(owner).install();
        execute("CREATE TABLE account (id int PRIMARY KEY, balance bigint NOT NULL)");
        if (kind.equals("protected")) {
            execute("SELECT fenceline.protect('account', 'account', ARRAY['id'], 'enforce')");
        }
        this.pool = new HikariDataSource(pool());
    }

    /** For a pool of one's own. */
    HikariConfig pool() {
        PGSimpleDataSource source = new PGSimpleDataSource();
        source.setServerNames(new String[] {SharedServers.postgres().host()});
        source.setPortNumbers(new int[] {SharedServers.postgres().port()});
        source.setDatabaseName(database);
        source.setUser(SharedServers.postgres().superuser());
        source.setApplicationName(APPLICATION);
        HikariConfig config = new HikariConfig();
        config.setDataSource(source);
        config.setMaximumPoolSize(2);
        config.setConnectionTimeout(10_000);
        return config;
    }

    DataSource source() {
        return pool;
    }

    /** Returns an account that no other test uses. */
    int account(long balance) {
        int account = ACCOUNTS.incrementAndGet();
        execute("BEGIN; SELECT fenceline.bypass('a test'); INSERT INTO account VALUES (" + account + ", " + balance
                + "); COMMIT");
        return account;
    }

    long balance(int account) {
        return number("SELECT balance FROM account WHERE id = " + account);
    }

    static LockName name(int account) {
        return LockName.of("account", account);
    }

    static Locks locks() {
        return LOCKS;
    }

    /** A newer holder comes and claims, as if the lease that is held had ended. */
    FencingToken overtake(int account) {
        try (FencedLease lease = NEWER.fenced(name(account)).tryAcquire().orElseThrow()) {
            return PostgresFence.on(owner).claim(lease).token();
        }
    }

    /** What happens to the session of somebody who sleeps in a transaction. */
    void endIdleTransactions() {
        String sessions = " FROM pg_stat_activity WHERE datname = '" + database + "' AND application_name = '"
                + APPLICATION + "' AND state LIKE 'idle in transaction%'";
        if (number("SELECT count(pg_terminate_backend(pid, 20000))" + sessions) != 1) {
            throw new AssertionError("There was not one transaction that idled.");
        }
    }

    private long number(String query) {
        try (Connection connection = owner.getConnection();
                Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery(query)) {
            row.next();
            return row.getLong(1);
        } catch (SQLException e) {
            throw new IllegalStateException(query, e);
        }
    }

    private void execute(String sql) {
        try (Connection connection = owner.getConnection();
                Statement statement = connection.createStatement()) {
            statement.execute(sql);
        } catch (SQLException e) {
            throw new IllegalStateException(sql, e);
        }
    }

    private static Locks locks(String keyPrefix) {
        return RedisLocks.connect(
                SharedServers.redis().uri(),
                LockOptions.builder()
                        .keyPrefix(keyPrefix)
                        .listener(FencelineListener.none())
                        .build());
    }
}
