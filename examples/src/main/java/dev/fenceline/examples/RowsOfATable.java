package dev.fenceline.examples;

import dev.fenceline.FencedLease;
import dev.fenceline.LockName;
import dev.fenceline.Locks;
import dev.fenceline.jdbc.FencedTable;
import dev.fenceline.jdbc.JdbiRowClaim;
import dev.fenceline.jdbc.JdbiRowValues;
import dev.fenceline.jdbc.JdbiRows;
import dev.fenceline.jdbc.PostgresRows;
import dev.fenceline.jdbc.RowClaim;
import dev.fenceline.jdbc.RowValues;
import dev.fenceline.lock.RedisLocks;
import dev.fenceline.migrations.FenceMigrations;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import javax.sql.DataSource;
import org.jdbi.v3.core.Jdbi;

/** Row mode beyond one number: keys of several columns, many rows at once, Jdbi, and writes that read nothing. */
public final class RowsOfATable {

    /**
     * The key of a line of an order.
     *
     * @param order the number of the order
     * @param number of the line in it
     */
    public record Line(long order, int number) {}

    /**
     * What a line says.
     *
     * @param cents its price
     * @param note a remark
     */
    public record Price(long cents, String note) {

        Price reducedBy(long less) {
            return new Price(cents - less, "reduced");
        }
    }

    // snippet: composite-key
    static final FencedTable<Line> LINES = FencedTable.of("order_line")
            .key(
                    List.of("order_id", "number"),
                    line -> List.of(line.order(), line.number()),
                    line -> LockName.of("order", line.order())); // all lines of an order are under its lock
    // end snippet

    private RowsOfATable() {}

    /**
     * Reduces the lines of order 7 in each of the ways.
     *
     * @param args the URI of Redis and the JDBC URL of PostgreSQL
     * @throws Exception when the lock or the database cannot be had
     */
    public static void main(String[] args) throws Exception {
        DataSource dataSource = AccountTable.database(args[1]);
        FenceMigrations.on(dataSource).install();
        create(dataSource);
        try (Locks locks = RedisLocks.connect(args[0])) {
            System.out.println("lines reduced: " + allLines(locks, dataSource));
            System.out.println("price: " + oneLine(locks, Jdbi.create(dataSource)));
            seen(locks, dataSource);
        }
    }

    static void create(DataSource database) throws SQLException {
        try (Connection connection = database.getConnection();
                Statement statement = connection.createStatement()) {
            statement.execute(
                    "CREATE TABLE IF NOT EXISTS order_line (order_id bigint, number int, cents bigint NOT NULL,"
                            + " note text NOT NULL DEFAULT '', seen_at timestamptz, PRIMARY KEY (order_id, number),"
                            + " fence_token bigint NOT NULL DEFAULT 0, fence_holder uuid)");
            statement.execute("INSERT INTO order_line (order_id, number, cents) VALUES (7, 1, 1000), (7, 2, 2000),"
                    + " (7, 3, 3000) ON CONFLICT DO NOTHING");
        }
    }

    static int allLines(Locks locks, DataSource dataSource) throws SQLException, InterruptedException {
        PostgresRows<Line> lines = PostgresRows.on(dataSource, LINES);
        // snippet: all-rows
        try (FencedLease lease = locks.fenced(LockName.of("order", 7)).acquire()) {
            Map<RowClaim<?>, RowValues> changes = new LinkedHashMap<>();
            for (int number = 1; number <= 3; number++) { // claim every row before anything is written
                RowClaim<Long> claim = lines.claim(lease, new Line(7, number), row -> row.getLong("cents"));
                changes.put(claim, RowValues.of("cents", claim.row().orElseThrow() * 9 / 10));
            }
            lines.updateAll(changes); // one statement: all of them, or none
            return changes.size();
        }
        // end snippet
    }

    static long oneLine(Locks locks, Jdbi jdbi) throws InterruptedException {
        // snippet: jdbi-row
        JdbiRows<Line> lines = JdbiRows.on(jdbi, LINES);
        Line first = new Line(7, 1);
        try (FencedLease lease = locks.fenced(lines.lock(first)).acquire()) {
            JdbiRowClaim<Price> claim =
                    lines.claim(lease, first, (row, context) -> new Price(row.getLong("cents"), row.getString("note")));
            Price reduced = claim.row().orElseThrow().reducedBy(100);
            claim.update(JdbiRowValues.bound(query -> query.bindMethods(reduced)) // or bindBean, bind, bindMap
                    .set("cents", ":cents")
                    .set("note", ":note"));
            return reduced.cents();
        }
        // end snippet
    }

    static void seen(Locks locks, DataSource dataSource) throws SQLException, InterruptedException {
        PostgresRows<Line> lines = PostgresRows.on(dataSource, LINES);
        // snippet: blind-row
        try (FencedLease lease = locks.fenced(LockName.of("order", 7)).acquire()) {
            lines.blind(lease, new Line(7, 2))
                    .update(RowValues.ofSql("seen_at", "now()")); // no claim: nothing was read
        }
        // end snippet
    }
}
