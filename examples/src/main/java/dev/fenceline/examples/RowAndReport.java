package dev.fenceline.examples;

import static dev.fenceline.examples.AccountTable.balanceOf;
import static dev.fenceline.examples.AccountTable.setBalance;

import dev.fenceline.FencedLease;
import dev.fenceline.LockName;
import dev.fenceline.Locks;
import dev.fenceline.jdbc.Claim;
import dev.fenceline.jdbc.PostgresFence;
import dev.fenceline.lock.RedisLocks;
import dev.fenceline.migrations.FenceMigrations;
import dev.fenceline.s3.EnvelopeClaim;
import dev.fenceline.s3.EnvelopeFence;
import dev.fenceline.s3.S3Body;
import dev.fenceline.s3.S3Content;
import dev.fenceline.s3.S3Fence;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import javax.sql.DataSource;
import software.amazon.awssdk.services.s3.S3Client;

/** One lock over a row in PostgreSQL and a report in S3. */
public final class RowAndReport {

    private static final LockName ACCOUNT = LockName.of("account", 42);
    static final String REPORT = "accounts/42.txt";

    private RowAndReport() {}

    /**
     * Charges account 42 a fee and adds a line to its report in S3. The client of S3 is that of the environment.
     *
     * @param args the URI of Redis, the JDBC URL of PostgreSQL and the name of a bucket
     * @throws Exception when the lock, the database or the bucket cannot be had
     */
    public static void main(String[] args) throws Exception {
        DataSource dataSource = AccountTable.database(args[1]);
        FenceMigrations.on(dataSource).install();
        AccountTable.create(dataSource);
        try (S3Client s3 = S3Client.create();
                Locks locks = RedisLocks.connect(args[0])) {
            System.out.println(charge(
                    locks, PostgresFence.on(dataSource), S3Fence.envelope().on(s3, args[2])));
        }
    }

    /** Returns the report as it is afterwards. */
    static String charge(Locks locks, PostgresFence rows, EnvelopeFence reports)
            throws SQLException, InterruptedException {
        // snippet: row-and-report
        try (FencedLease lease = locks.fenced(ACCOUNT).acquireWithin(Duration.ofSeconds(10))) {
            Claim<Connection> row = rows.claim(lease); // both, before the first read of either
            EnvelopeClaim report = reports.claim(lease, REPORT);

            String before = report.read().map(S3Content::text).orElse("");
            long balance = row.inTransaction(connection -> {
                long charged = balanceOf(connection, 42) - 100;
                setBalance(connection, 42, charged);
                return charged;
            });
            // No atomic commit: if this fails, the row is charged and the report says nothing of it.
            report.write(S3Body.of(before + "charged, leaves " + balance + "\n").contentType("text/plain"));
        }
        // end snippet
        return reports.read(REPORT).map(S3Content::text).orElse("");
    }
}
