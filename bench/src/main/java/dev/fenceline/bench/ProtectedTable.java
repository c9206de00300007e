package dev.fenceline.bench;

import dev.fenceline.LockName;
import dev.fenceline.bench.Bank.Commits;
import dev.fenceline.jdbc.Claim;
import dev.fenceline.jdbc.PostgresFence;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/** What the triggers of a protected table cost: one UPDATE of 200,000 rows with two secondary indexes. */
final class ProtectedTable implements Scenario {

    private static final int ROWS = 200_000;

    /** A run of all of them takes seconds, so there are fewer rounds than elsewhere. */
    private static final int SHARE_OF_ROUNDS = 4;

    /** Whose rows are updated. */
    private enum Guarded {
        PLAIN("plain", ""),
        ENFORCED("enforced, entered", "enforce"),
        OBSERVED_ENTERED("observed, entered", "observe"),
        OBSERVED("observed, not entered: one record", "observe");

        private final String label;
        private final String mode;

        Guarded(String label, String mode) {
            this.label = label;
            this.mode = mode;
        }

        private String table() {
            return name().toLowerCase(Locale.ROOT) + "_line";
        }

        private boolean enters() {
            return this == ENFORCED || this == OBSERVED_ENTERED;
        }
    }

    @Override
    public String id() {
        return "triggers";
    }

    @Override
    public Section run(Settings settings) throws Exception {
        Settings fewer = settings.withRounds(Math.max(2, settings.rounds() / SHARE_OF_ROUNDS));
        Paired<Guarded> nanos;
        try (Bank bank = new Bank()) {
            for (Guarded guarded : Guarded.values()) {
                create(bank, guarded);
            }
            Claim<Connection> claim =
                    PostgresFence.on(bank.source(Commits.SYNCHRONOUS)).claim(bank.lease(LockName.of("ledger")));
            nanos = new Rounds(fewer).run(List.of(Guarded.values()), (guarded, phase) -> update(bank, guarded, claim));
        }
        Table table = new Table(
                String.format(Locale.ROOT, "UPDATE of %,d rows, two secondary indexes", ROWS), "takes", "× plain");
        for (Guarded guarded : Guarded.values()) {
            table.row(
                    guarded.label,
                    Table.millis(nanos.of(guarded).median()),
                    nanos.ratio(guarded, Guarded.PLAIN).ratio());
        }
        List<Target> targets = new ArrayList<>();
        targets.add(target(nanos, Guarded.ENFORCED, 1.3));
        targets.add(target(nanos, Guarded.OBSERVED_ENTERED, 1.1));
        targets.add(target(nanos, Guarded.OBSERVED, 1.1));
        return new Section(
                id(),
                table + "\n" + fewer.rounds() + " rounds, each UPDATE followed by a VACUUM that is not" + " timed.",
                targets);
    }

    private static Target target(Paired<Guarded> nanos, Guarded guarded, double limit) {
        return Target.atMost(
                "UPDATE of " + String.format(Locale.ROOT, "%,d", ROWS) + " rows, " + guarded.label + ", × plain",
                limit,
                nanos.ratio(guarded, Guarded.PLAIN));
    }

    private static void create(Bank bank, Guarded guarded) throws SQLException {
        String table = guarded.table();
        bank.execute("CREATE TABLE " + table + " (id bigint PRIMARY KEY, amount bigint NOT NULL, owner text NOT NULL)");
        bank.execute("INSERT INTO " + table + " SELECT i, i, 'owner ' || i % 1000 FROM generate_series(1, " + ROWS
                + ") AS i");
        bank.execute("CREATE INDEX ON " + table + " (amount)");
        bank.execute("CREATE INDEX ON " + table + " (owner)");
        if (!guarded.mode.isEmpty()) {
            // One lock for all rows.
            bank.execute("SELECT fenceline.protect('" + table + "', 'ledger', '{}', '" + guarded.mode + "')");
        }
        bank.execute("VACUUM ANALYZE " + table);
    }

    private static double update(Bank bank, Guarded guarded, Claim<Connection> claim) throws Exception {
        String sql = "UPDATE " + guarded.table() + " SET amount = amount + 1";
        double nanos;
        if (guarded.enters()) {
            nanos = claim.inTransaction(connection -> timed(connection, sql));
        } else {
            try (Connection connection = bank.source(Commits.SYNCHRONOUS).getConnection()) {
                connection.setAutoCommit(false);
                nanos = timed(connection, sql);
                connection.commit();
            }
        }
        bank.execute("VACUUM " + guarded.table());
        return nanos;
    }

    /** The statement alone: what entering and leaving cost is compared elsewhere. */
    private static double timed(Connection connection, String sql) throws SQLException {
        try (Statement statement = connection.createStatement()) {
            long start = System.nanoTime();
            int unused = statement.executeUpdate(sql);
            return System.nanoTime() - start;
        }
    }
}
