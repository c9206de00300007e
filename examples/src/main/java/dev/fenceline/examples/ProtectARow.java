package dev.fenceline.examples;

import static dev.fenceline.examples.AccountTable.balanceOf;
import static dev.fenceline.examples.AccountTable.setBalance;

import dev.fenceline.LockName;
import dev.fenceline.Locks;
import dev.fenceline.jdbc.PostgresFence;
import dev.fenceline.lock.RedisLocks;
import dev.fenceline.migrations.FenceMigrations;
import java.sql.SQLException;
import java.time.Duration;
import javax.sql.DataSource;

/** Reads a balance, computes, and writes it back, so that nobody who was paused meanwhile can overwrite it. */
public final class ProtectARow {

    private ProtectARow() {}

    /**
     * Takes 12.50 € from account 42.
     *
     * @param args the URI of Redis and the JDBC URL of PostgreSQL
     * @throws Exception when the lock or the database cannot be had
     */
    public static void main(String[] args) throws Exception {
        DataSource dataSource = AccountTable.database(args[1]);
        FenceMigrations.on(dataSource).install();
        AccountTable.create(dataSource);
        System.out.println("balance: " + withdraw(args[0], dataSource));
    }

    static long withdraw(String redisUri, DataSource dataSource) throws SQLException, InterruptedException {
        // snippet: protect-a-row
        try (Locks locks = RedisLocks.connect(redisUri)) {
            PostgresFence fence = PostgresFence.on(dataSource);
            return fence.under(locks.fenced(LockName.of("account", 42)))
                    .waitAtMost(Duration.ofSeconds(10))
                    .call(connection -> {
                        long read = balanceOf(connection, 42);
                        long computed = read - 1_250;
                        setBalance(connection, 42, computed);
                        return computed;
                    });
        }
        // end snippet
    }
}
