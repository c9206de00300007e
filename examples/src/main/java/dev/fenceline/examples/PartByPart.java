package dev.fenceline.examples;

import static dev.fenceline.examples.AccountTable.balanceOf;
import static dev.fenceline.examples.AccountTable.setBalance;

import dev.fenceline.FencedLease;
import dev.fenceline.FencingToken;
import dev.fenceline.LockName;
import dev.fenceline.Locks;
import dev.fenceline.jdbc.Claim;
import dev.fenceline.jdbc.PostgresFence;
import dev.fenceline.lock.RedisLocks;
import dev.fenceline.migrations.FenceMigrations;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import javax.sql.DataSource;

/** The same in its parts, for work of several transactions, or of several processes. */
public final class PartByPart {

    private static final LockName ACCOUNT = LockName.of("account", 42);

    private PartByPart() {}

    /**
     * Charges account 42 a fee in two transactions, and has another service pay it back.
     *
     * @param args the URI of Redis and the JDBC URL of PostgreSQL
     * @throws Exception when the lock or the database cannot be had
     */
    public static void main(String[] args) throws Exception {
        DataSource dataSource = AccountTable.database(args[1]);
        FenceMigrations.on(dataSource).install();
        AccountTable.create(dataSource);
        System.out.println("balance: " + charge(args[0], dataSource));
    }

    static long charge(String redisUri, DataSource dataSource) throws SQLException, InterruptedException {
        PostgresFence fence = PostgresFence.on(dataSource);
        // snippet: part-by-part
        try (Locks locks = RedisLocks.connect(redisUri);
                FencedLease lease = locks.fenced(ACCOUNT).acquireWithin(Duration.ofSeconds(10))) {
            Claim<Connection> claim = fence.claim(lease); // before the first read
            long read = claim.inTransaction(connection -> balanceOf(connection, 42));
            long fee = feeFor(read); // may be slow: no transaction is open
            claim.useTransaction(connection -> setBalance(connection, 42, read - fee));
            return elsewhere(fence, claim.token().encode(), fee); // as a header, for instance
        }
        // end snippet
    }

    // snippet: resume
    /** Another process goes on under the same claim. A token is no credential: it checks whose lock it is. */
    static long elsewhere(PostgresFence fence, String header, long refund) throws SQLException {
        FencingToken token = FencingToken.parse(header).requireLock(ACCOUNT);
        return fence.resume(token).inTransaction(connection -> {
            long balance = balanceOf(connection, 42) + refund;
            setBalance(connection, 42, balance);
            return balance;
        });
    }
    // end snippet

    private static long feeFor(long balanceCents) {
        return balanceCents / 1_000;
    }
}
