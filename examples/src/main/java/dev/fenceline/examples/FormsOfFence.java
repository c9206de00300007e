package dev.fenceline.examples;

import static dev.fenceline.examples.AccountTable.balanceOf;
import static dev.fenceline.examples.AccountTable.setBalance;

import dev.fenceline.FencedLease;
import dev.fenceline.LockName;
import dev.fenceline.Locks;
import dev.fenceline.jdbc.Claim;
import dev.fenceline.jdbc.FencedTable;
import dev.fenceline.jdbc.PostgresFence;
import dev.fenceline.jdbc.PostgresRows;
import dev.fenceline.jdbc.RowClaim;
import dev.fenceline.jdbc.RowValues;
import dev.fenceline.lock.RedisLocks;
import dev.fenceline.migrations.FenceMigrations;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import javax.sql.DataSource;

/** The ways to fence a write, from one statement to a table that refuses everybody else. */
public final class FormsOfFence {

    private static final LockName ACCOUNT = LockName.of("account", 42);

    private FormsOfFence() {}

    /**
     * Withdraws from account 42 in each of the ways.
     *
     * @param args the URI of Redis and the JDBC URL of PostgreSQL
     * @throws Exception when the lock or the database cannot be had
     */
    public static void main(String[] args) throws Exception {
        DataSource dataSource = AccountTable.database(args[1]);
        FenceMigrations.on(dataSource).install();
        AccountTable.create(dataSource);
        try (Locks locks = RedisLocks.connect(args[0])) {
            System.out.println("rows changed: " + oneStatement(locks, PostgresFence.on(dataSource)));
            addMarks(dataSource);
            System.out.println("balance: " + oneRow(locks, dataSource));
            protect(dataSource);
            System.out.println("balance: " + ownTransaction(locks, dataSource));
        }
    }

    static long oneStatement(Locks locks, PostgresFence fence) throws SQLException, InterruptedException {
        // snippet: one-statement
        try (FencedLease lease = locks.fenced(ACCOUNT).acquire()) {
            Claim<Connection> claim = fence.claim(lease);
            return claim.update("UPDATE account SET balance_cents = balance_cents - ? WHERE id = ?", 1_250, 42);
        }
        // end snippet
    }

    static void addMarks(DataSource owner) throws SQLException {
        execute(
                owner,
                "ALTER TABLE account ADD COLUMN IF NOT EXISTS fence_token bigint NOT NULL DEFAULT 0,"
                        + " ADD COLUMN IF NOT EXISTS fence_holder uuid");
    }

    static long oneRow(Locks locks, DataSource dataSource) throws SQLException, InterruptedException {
        // snippet: one-row
        FencedTable<Integer> accounts = FencedTable.of("account").key("id", id -> LockName.of("account", id));
        PostgresRows<Integer> rows = PostgresRows.on(dataSource, accounts);
        try (FencedLease lease = locks.fenced(rows.lock(42)).acquire()) {
            RowClaim<Long> claim = rows.claim(lease, 42, row -> row.getLong("balance_cents")); // claims and reads
            long left = claim.row().orElseThrow() - 1_250;
            claim.update(RowValues.of("balance_cents", left)); // only while the row's mark is ours
            return left;
        }
        // end snippet
    }

    static void protect(DataSource owner) throws SQLException {
        execute(owner, "SELECT fenceline.protect('account', 'account', '{id}', 'enforce')");
    }

    static long ownTransaction(Locks locks, DataSource dataSource) throws SQLException, InterruptedException {
        PostgresFence fence = PostgresFence.on(dataSource);
        // snippet: own-transaction
        try (FencedLease lease = locks.fenced(ACCOUNT).acquire()) {
            fence.claim(lease);
            try (Connection connection = dataSource.getConnection()) {
                connection.setAutoCommit(false);
                fence.enter(connection, lease.token()); // first of all
                long left = balanceOf(connection, 42) - 1_250;
                setBalance(connection, 42, left);
                connection.commit();
                return left;
            }
        }
        // end snippet
    }

    private static void execute(DataSource owner, String sql) throws SQLException {
        try (Connection connection = owner.getConnection();
                Statement statement = connection.createStatement()) {
            statement.execute(sql);
        }
    }
}
