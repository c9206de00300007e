package dev.fenceline.verification.rollout;

import dev.fenceline.FencedLease;
import dev.fenceline.LockName;
import dev.fenceline.LockOptions;
import dev.fenceline.Locks;
import dev.fenceline.jdbc.PostgresFence;
import dev.fenceline.jdbc.PostgresRows;
import dev.fenceline.jdbc.RowClaim;
import dev.fenceline.jdbc.RowValues;
import dev.fenceline.lock.RedisLocks;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import org.postgresql.ds.PGSimpleDataSource;

/**
 * The version with the fence: orders under the guard, parcels in row mode. As long as the old one may write, it takes the old one's lock too, that of the row. Arguments: the JDBC URL,
 * the role, the URI of Redis, the key prefix.
 */
public final class NewVersion extends Version {

    static final String NAME = "orders 2.0";

    private static final Duration WAIT = Duration.ofSeconds(30);

    private final Locks locks;
    private final PGSimpleDataSource dataSource;
    private final PostgresFence fence;
    private final PostgresRows<Integer> parcels;

    private NewVersion(Locks locks, PGSimpleDataSource dataSource) {
        this.locks = locks;
        this.dataSource = dataSource;
        this.fence = PostgresFence.on(dataSource);
        this.parcels = PostgresRows.on(dataSource, Shop.PARCELS);
    }

    public static void main(String[] args) throws Exception {
        PGSimpleDataSource dataSource = new PGSimpleDataSource();
        dataSource.setURL(args[0]);
        dataSource.setUser(args[1]);
        dataSource.setApplicationName(NAME);
        LockOptions options =
                LockOptions.builder().keyPrefix(args[3]).application(NAME).build();
        try (Locks locks = RedisLocks.connect(args[2], options)) {
            new NewVersion(locks, dataSource).serve();
        }
    }

    @Override
    void add(int row) throws Exception {
        if (Shop.isOrder(row)) {
            fence.under(locks.fenced(LockName.of("order", row)))
                    .waitAtMost(WAIT)
                    .run(connection -> write(connection, row, read(connection, row) + 1));
        } else {
            addToParcel(row);
        }
    }

    private void addToParcel(int row) throws SQLException, InterruptedException {
        try (FencedLease lease = locks.fenced(parcels.lock(row)).acquireWithin(WAIT);
                Connection connection = dataSource.getConnection()) {
            RowClaim<Long> claim = parcels.claim(lease, row, found -> found.getLong("quantity"));
            connection.setAutoCommit(false);
            // What the claim itself has read may be old by now: the old version does not look at marks.
            long read = claim.in(connection).read().orElseThrow();
            claim.in(connection).update(RowValues.of("quantity", read + 1));
            connection.commit();
        }
    }

    private static long read(Connection connection, int row) throws SQLException {
        try (PreparedStatement select =
                connection.prepareStatement("SELECT quantity FROM shop.\"order\" WHERE id = ? FOR UPDATE")) {
            select.setInt(1, row);
            try (ResultSet found = select.executeQuery()) {
                found.next();
                return found.getLong(1);
            }
        }
    }

    private static void write(Connection connection, int row, long quantity) throws SQLException {
        try (PreparedStatement update =
                connection.prepareStatement("UPDATE shop.\"order\" SET quantity = ? WHERE id = ?")) {
            update.setLong(1, quantity);
            update.setInt(2, row);
            update.executeUpdate();
        }
    }
}
