package dev.fenceline.bench;

import dev.fenceline.FencedLease;
import dev.fenceline.LockName;
import dev.fenceline.bench.Bank.Commits;
import dev.fenceline.jdbc.BlindRow;
import dev.fenceline.jdbc.Claim;
import dev.fenceline.jdbc.FencedTable;
import dev.fenceline.jdbc.PostgresFence;
import dev.fenceline.jdbc.PostgresRows;
import dev.fenceline.jdbc.RowClaim;
import dev.fenceline.jdbc.RowValues;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import javax.sql.DataSource;

/** A hundred accounts for each thread, in a table that is as it was, in one with marks, and in one that is protected. */
final class Accounts {

    private static final int OF_EACH_THREAD = 100;
    private static final String UPDATE = "UPDATE account SET balance = ? WHERE id = ?";

    private static final FencedTable<Long> MARKED =
            FencedTable.of("public", "marked_account").key("id", id -> LockName.of("account", id));

    private final Bank bank;
    private final List<List<FencedLease>> leases = new ArrayList<>();

    Accounts(Bank bank, int threads) throws SQLException, InterruptedException {
        this.bank = bank;
        String columns = " (id bigint PRIMARY KEY, balance bigint NOT NULL";
        // Room for new versions on the same page: what is compared is the writes, not who has to find a page.
        String rest = ") WITH (fillfactor = 50)";
        bank.execute("CREATE TABLE account" + columns + rest);
        bank.execute("CREATE TABLE protected_account" + columns + rest);
        bank.execute("CREATE TABLE marked_account" + columns
                + ", fence_token bigint NOT NULL DEFAULT 0, fence_holder uuid" + rest);
        for (String table : List.of("account", "protected_account", "marked_account")) {
            bank.execute("INSERT INTO " + table + " (id, balance) SELECT i, 0 FROM generate_series(0, "
                    + (threads * OF_EACH_THREAD - 1) + ") AS i");
        }
        bank.execute("SELECT fenceline.protect('protected_account', 'account', '{id}', 'enforce')");
        for (int thread = 0; thread < threads; thread++) {
            List<FencedLease> own = new ArrayList<>();
            for (int i = 0; i < OF_EACH_THREAD; i++) {
                own.add(bank.lease(LockName.of("account", id(thread, i))));
            }
            leases.add(own);
        }
    }

    private static long id(int thread, int number) {
        return (long) thread * OF_EACH_THREAD + number;
    }

    /** Claims what a form needs, and returns the write that is to be repeated. */
    Write write(WriteForm form, Commits commits, int thread) throws SQLException {
        DataSource source = bank.source(commits);
        long id = id(thread, 0);
        return switch (form) {
            case PLAIN ->
                value -> {
                    try (Connection connection = source.getConnection()) {
                        update(connection, UPDATE, id, value);
                    }
                };
            case TRANSACTION -> value -> inTransaction(source, connection -> update(connection, UPDATE, id, value));
            case BATCH -> value -> inTransaction(source, connection -> updateAll(connection, thread, value));
            case STATEMENT -> statement(fence(source), id, thread);
            case STATEMENT_RECORDED -> statement(fence(source).recorded(), id, thread);
            case UNIT -> unit(fence(source), UPDATE, id, thread);
            case UNIT_CONCURRENT -> unit(fence(source).concurrent(), UPDATE, id, thread);
            case UNIT_ENFORCED ->
                unit(fence(source), "UPDATE protected_account SET balance = ? WHERE id = ?", id, thread);
            case UNIT_BATCH -> {
                Claim<Connection> claim = claim(fence(source), thread);
                yield value -> claim.useTransaction(connection -> updateAll(connection, thread, value));
            }
            case ROW -> {
                RowClaim<Long> claim = row(rows(commits), thread, 0);
                yield value -> claim.update(RowValues.of("balance", value));
            }
            case ROW_BLIND -> {
                BlindRow blind = rows(commits).blind(lease(thread, 0), id);
                yield value -> blind.update(RowValues.of("balance", value));
            }
            case ROW_BATCH -> rowBatch(rows(commits), thread);
        };
    }

    private FencedLease lease(int thread, int number) {
        return leases.get(thread).get(number);
    }

    private static PostgresFence fence(DataSource source) {
        return PostgresFence.on(source);
    }

    private PostgresRows<Long> rows(Commits commits) {
        return PostgresRows.on(bank.source(commits), MARKED);
    }

    /** A claim is to survive a crash and is refused without the disk; what follows it may be done with less. */
    private Claim<Connection> claim(PostgresFence fence, int thread) {
        Claim<Connection> claimed =
                PostgresFence.on(bank.source(Commits.SYNCHRONOUS)).claim(lease(thread, 0));
        return fence.resume(claimed.token());
    }

    private RowClaim<Long> row(PostgresRows<Long> rows, int thread, int number) throws SQLException {
        long id = id(thread, number);
        FencedLease lease = lease(thread, number);
        RowClaim<Long> claimed =
                PostgresRows.on(bank.source(Commits.SYNCHRONOUS), MARKED).claim(lease, id, Accounts::balance);
        return rows.resume(claimed.token(), id, Accounts::balance);
    }

    private Write statement(PostgresFence fence, long id, int thread) {
        Claim<Connection> claim = claim(fence, thread);
        return value -> {
            long unused = claim.update(UPDATE, value, id);
        };
    }

    private Write unit(PostgresFence fence, String sql, long id, int thread) {
        Claim<Connection> claim = claim(fence, thread);
        return value -> claim.useTransaction(connection -> update(connection, sql, id, value));
    }

    private Write rowBatch(PostgresRows<Long> rows, int thread) throws SQLException {
        List<RowClaim<Long>> claims = new ArrayList<>();
        for (int i = 0; i < OF_EACH_THREAD; i++) {
            claims.add(row(rows, thread, i));
        }
        return value -> {
            Map<RowClaim<?>, RowValues> changes = new LinkedHashMap<>();
            claims.forEach(claim -> changes.put(claim, RowValues.of("balance", value)));
            rows.updateAll(changes);
        };
    }

    /** What a transaction does. */
    @FunctionalInterface
    private interface Statements {
        void run(Connection connection) throws SQLException;
    }

    private static void inTransaction(DataSource source, Statements statements) throws SQLException {
        try (Connection connection = source.getConnection()) {
            connection.setAutoCommit(false);
            statements.run(connection);
            connection.commit();
        }
    }

    private static void update(Connection connection, String sql, long id, long value) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(sql)) {
            statement.setLong(1, value);
            statement.setLong(2, id);
            int unused = statement.executeUpdate();
        }
    }

    private static void updateAll(Connection connection, int thread, long value) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(UPDATE)) {
            for (int i = 0; i < OF_EACH_THREAD; i++) {
                statement.setLong(1, value);
                statement.setLong(2, id(thread, i));
                statement.addBatch();
            }
            int[] unused = statement.executeBatch();
        }
    }

    private static long balance(ResultSet row) throws SQLException {
        return row.getLong("balance");
    }
}
