package dev.fenceline.verification.rollout;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.fenceline.FencedLease;
import dev.fenceline.LockName;
import dev.fenceline.LockOptions;
import dev.fenceline.Locks;
import dev.fenceline.jdbc.PostgresFence;
import dev.fenceline.jdbc.PostgresRows;
import dev.fenceline.jdbc.RowClaim;
import dev.fenceline.jdbc.RowValues;
import dev.fenceline.lock.RedisLocks;
import dev.fenceline.migrations.AddColumns;
import dev.fenceline.migrations.ApplyOptions;
import dev.fenceline.migrations.Change;
import dev.fenceline.migrations.Plan;
import dev.fenceline.migrations.Protect;
import dev.fenceline.testkit.SharedServers;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** From code that knows no fence to tables that refuse it, while everybody writes. */
@Tag("server")
class RollingDeployTest {

    private static final Protect.Locked ORDER = Protect.table("shop.\"order\"").lock("order", "id");
    private static final String ADD_ONE = "UPDATE shop.\"order\" SET quantity = quantity + 1 WHERE id = 0";
    private static final String VIOLATIONS =
            "SELECT DISTINCT concat_ws(' | ', application_name, role, relation, operation) FROM fenceline.violation";

    private final Shop shop = Shop.create();

    @Test
    void inSixStepsNothingFailsBeforeTheLastOneAndNothingIsLost() throws Exception {
        try (Fleet fleet = new Fleet(shop)) {
            Fleet.Instance old1 = fleet.old("old 1");
            Fleet.Instance old2 = fleet.old("old 2");
            Fleet.Instance new1 = fleet.renewed("new 1");
            Fleet.Instance new2 = fleet.renewed("new 2");
            // A job that runs at night, and that nobody thought of.
            Fleet.Instance forgotten = fleet.old("forgotten");
            fleet.awaitReady();
            old1.go();
            old2.go();
            fleet.everybodyWrites("before anything", 10);

            // 1. Install.
            shop.migrations().install();
            shop.migrations().grantTo(shop.role());
            shop.migrations().grantRowsTo(shop.role());
            fleet.everybodyWrites("after installing", 10);

            // 2. Columns, for row mode only.
            addColumns(old1, fleet);

            // 3. Observe.
            assertThat(apply(ORDER.observe()).warnings()).isEmpty();
            fleet.everybodyWrites("while observed", 10);
            String oldWriters = OldVersion.NAME + " | " + shop.role() + " | shop.\"order\" | UPDATE";
            assertThat(shop.rows(VIOLATIONS)).containsExactly(oldWriters);

            // 4. Deploy the new code, one process after the other.
            new1.go();
            fleet.everybodyWrites("with one new process", 10);
            old1.stop();
            new2.go();
            fleet.everybodyWrites("with two new processes", 10);
            old2.stop();

            // 5. No new violation over a full business cycle.
            long seen = shop.violations();
            fleet.everybodyWrites("after the old ones stopped", 15);
            assertThat(shop.violations())
                    .as("violations since the old ones stopped")
                    .isEqualTo(seen);
            assertThat(shop.rows(VIOLATIONS))
                    .as("the new ones were never recorded")
                    .containsExactly(oldWriters);

            // 6. Enforce.
            assertThat(apply(ORDER.enforce()).warnings()).as("it was observed").isEmpty();
            fleet.everybodyWrites("while enforced", 10);
            isRefused(forgotten);
            assertThat(shop.violations()).as("a refusal is no record").isEqualTo(seen);

            // The way back: his very next statement is taken, and recorded.
            apply(ORDER.observe());
            forgotten.write("order");
            assertThat(shop.violations()).isEqualTo(seen + 1);
            forgotten.go();
            fleet.everybodyWrites("after the way back", 10);

            forgotten.stop();
            new1.stop();
            new2.stop();
            assertThat(shop.quantities()).isEqualTo(fleet.acknowledged());
        }
    }

    /** A transaction that goes on with a prepared SELECT * fails once; what is prepared and used outside of transactions does not. */
    private void addColumns(Fleet.Instance old, Fleet fleet) throws InterruptedException {
        assertThat(old.ask("begin", "beg")).isEqualTo("begun");

        assertThat(apply(AddColumns.table("shop.parcel")).warnings())
                .anySatisfy(
                        warning -> assertThat(warning)
                                .contains(
                                        "a SELECT * or RETURNING * that its connection has prepared before fails once with 0A000"));

        assertThat(old.ask("read", "read "))
                .startsWith("read 0A000 ")
                .contains("cached plan must not change result type");
        assertThat(old.ask("begin", "beg")).isEqualTo("begun");
        assertThat(old.ask("read", "read ")).as("once").matches("read \\d+");
        fleet.everybodyWrites("with the columns", 10);
    }

    /** On the connection that he has had since before the first step. Row mode stops nobody. */
    private static void isRefused(Fleet.Instance forgotten) {
        for (String how : List.of("in a statement of its own", "in a transaction")) {
            assertThat(forgotten.refused("order"))
                    .as(how)
                    .startsWith("FL001 ")
                    .contains("UPDATE on shop.\"order\" refused: it needs lock 'order:0' (token ")
                    .contains("and the locks that this transaction has entered are: none");
        }
        forgotten.write("parcel");
    }

    /** The control of both: the fence keeps out whom it knows, and the lock on the row whom it does not. */
    @Test
    void newCodeThatDoesNotTakeTheOldLockTooLosesWhatOldCodeWrites() throws Exception {
        shop.migrations().install();
        shop.migrations().grantTo(shop.role());
        apply(ORDER.observe());
        PostgresFence fence = PostgresFence.on(shop.asService());
        try (Locks locks = locks()) {
            fence.under(locks.fenced(LockName.of("order", 0))).run(connection -> {
                long read = read(connection, "");
                Shop.execute(shop.asService(), ADD_ONE);
                write(connection, read + 1);
            });
            assertThat(shop.quantities().get(0)).as("two were added").isEqualTo(1);

            ExecutorService oldCode = Executors.newSingleThreadExecutor();
            Future<?> waiting = fence.under(locks.fenced(LockName.of("order", 0)))
                    .call(connection -> {
                        long read = read(connection, " FOR UPDATE");
                        Future<?> update = oldCode.submit(() -> Shop.execute(shop.asService(), ADD_ONE));
                        awaitWaiting();
                        write(connection, read + 1);
                        return update;
                    });
            waiting.get(30, TimeUnit.SECONDS);
            oldCode.shutdown();
            assertThat(shop.quantities().get(0)).as("two more were added").isEqualTo(3);
        }
    }

    @Test
    void rowModeThatWritesWhatItsClaimHasReadLosesWhatOldCodeWrites() throws Exception {
        shop.migrations().install();
        shop.migrations().grantRowsTo(shop.role());
        apply(AddColumns.table("shop.parcel"));
        PostgresRows<Integer> parcels = PostgresRows.on(shop.asService(), Shop.PARCELS);
        try (Locks locks = locks();
                FencedLease lease = locks.fenced(parcels.lock(1)).acquire()) {
            RowClaim<Long> claim = parcels.claim(lease, 1, row -> row.getLong("quantity"));
            Shop.execute(shop.asService(), "UPDATE shop.parcel SET quantity = quantity + 1 WHERE id = 1");
            claim.update(RowValues.of("quantity", claim.row().orElseThrow() + 1));
            assertThat(shop.quantities().get(1)).as("two were added").isEqualTo(1);
        }
    }

    private Plan apply(Change change) throws InterruptedException {
        Plan plan = shop.migrations().plan(change);
        plan.apply(ApplyOptions.defaults());
        return plan;
    }

    private Locks locks() {
        return RedisLocks.connect(
                SharedServers.redis().uri(),
                LockOptions.builder().keyPrefix("rollout-" + shop.database()).build());
    }

    private static long read(Connection connection, String locking) throws SQLException {
        try (Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery("SELECT quantity FROM shop.\"order\" WHERE id = 0" + locking)) {
            row.next();
            return row.getLong(1);
        }
    }

    private static void write(Connection connection, long quantity) throws SQLException {
        try (Statement statement = connection.createStatement()) {
            statement.execute("UPDATE shop.\"order\" SET quantity = " + quantity + " WHERE id = 0");
        }
    }

    private void awaitWaiting() {
        await("the old code waits for the row")
                .atMost(Duration.ofSeconds(30))
                .until(() -> shop.rows(
                                "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND usename = '"
                                        + shop.role() + "'")
                        .equals(List.of("1")));
    }
}
