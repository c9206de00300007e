package dev.fenceline.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.fenceline.FencelineListener;
import dev.fenceline.LockName;
import dev.fenceline.LockOptions;
import dev.fenceline.Locks;
import dev.fenceline.StaleTokenException;
import dev.fenceline.lock.RedisLocks;
import dev.fenceline.testkit.ChildJvm;
import dev.fenceline.testkit.SharedServers;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import javax.sql.DataSource;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.postgresql.ds.PGSimpleDataSource;

/** The trap: find, change, save. A repository that nobody has changed loses no update inside of units, and does without. */
@Tag("server")
class UnitLostUpdateTest extends OneUnit {

    private static final Duration LIMIT = Duration.ofSeconds(30);

    /** As it was written long ago: a connection for each call. */
    record Accounts(DataSource source) {

        long find(int id) throws SQLException {
            try (Connection connection = source.getConnection();
                    PreparedStatement select =
                            connection.prepareStatement("SELECT balance FROM account WHERE id = ?")) {
                select.setInt(1, id);
                try (ResultSet row = select.executeQuery()) {
                    row.next();
                    return row.getLong(1);
                }
            }
        }

        void save(int id, long balance) throws SQLException {
            try (Connection connection = source.getConnection();
                    PreparedStatement update =
                            connection.prepareStatement("UPDATE account SET balance = ? WHERE id = ?")) {
                update.setLong(1, balance);
                update.setInt(2, id);
                update.executeUpdate();
            }
        }
    }

    @Test
    void findChangeSaveInUnitsLosesNothing() throws Exception {
        PostgresFence direct = PostgresFence.on(database.source());
        Accounts accounts = new Accounts(direct.dataSource());

        Race.of(4, turn -> {
            for (int i = 0; i < 5; i++) {
                direct.unit(lock).waitAtMost(LIMIT).run(claim -> accounts.save(1, accounts.find(1) + 1));
            }
        });

        assertThat(database.balance(1)).isEqualTo(120);
    }

    @Test
    void withoutUnitsItLosesAnUpdate() throws Exception {
        Accounts accounts = new Accounts(source);
        Accounts same = new Accounts(database.source());
        CountDownLatch bothHaveRead = new CountDownLatch(2);

        Race.of(2, turn -> {
            Accounts mine = turn == 0 ? accounts : same;
            long found = mine.find(1);
            bothHaveRead.countDown();
            assertThat(bothHaveRead.await(20, TimeUnit.SECONDS)).isTrue();
            mine.save(1, found + 10);
        });

        assertThat(database.balance(1)).as("100 + 10 + 10").isEqualTo(110);
    }

    @Test
    void withTheLockAloneAnUpdateIsLost() throws Exception {
        // The naive form of a unit: the lock is held as far as anybody here knows, and the repository is over the plain
        // data
        // source.
        Accounts plain = new Accounts(pool);
        unit(claim -> {
            long found = plain.find(1);
            overtake();
            new Accounts(database.source()).save(1, 150);
            plain.save(1, found + 10);
        });
        assertThat(database.balance(1)).as("50 were accepted and are gone").isEqualTo(110);
    }

    @Test
    void inAUnitAWriterWhoWasOvertakenIsRefused() {
        Accounts accounts = new Accounts(source);
        assertThatThrownBy(() -> unit(claim -> {
                    long found = accounts.find(1);
                    overtake();
                    new Accounts(database.source()).save(1, 150);
                    accounts.save(1, found + 10);
                }))
                .isInstanceOf(StaleTokenException.class)
                .hasMessageContaining("A newer holder has taken over");
        assertThat(database.balance(1)).isEqualTo(150);
    }

    /** A process that finds, is stopped, and saves. */
    public static final class Sleeper {

        private Sleeper() {}

        public static void main(String[] args) throws Exception {
            PGSimpleDataSource source = new PGSimpleDataSource();
            source.setUrl(args[1]);
            source.setUser(args[2]);
            BufferedReader orders = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
            LockOptions options = LockOptions.builder()
                    .lease(Duration.ofSeconds(2))
                    .masterClockSkew(Duration.ZERO)
                    .listener(FencelineListener.none())
                    .build();
            PostgresFence fence = PostgresFence.on(source);
            Accounts accounts = new Accounts(args[4].equals("fenced") ? fence.dataSource() : source);
            try (Locks locks = RedisLocks.connect(args[0], options)) {
                fence.unit(locks.fenced(LockName.parse(args[3]))).run(claim -> {
                    long found = accounts.find(1);
                    System.out.println("FOUND");
                    orders.readLine();
                    accounts.save(1, found + 10);
                });
                System.out.println("SAVED");
            } catch (StaleTokenException e) {
                System.out.println("STALE " + e.getMessage());
            }
        }
    }

    private String sleeper(String mode) throws Exception {
        try (ChildJvm child = ChildJvm.start(
                Sleeper.class,
                SharedServers.redis().uri(),
                database.server().jdbcUrl(database.name()),
                database.server().superuser(),
                lock.name().toString(),
                mode)) {
            child.awaitLine("FOUND", LIMIT);
            child.pause();
            assertThat(child.state()).isEqualTo('T');
            Accounts accounts = new Accounts(source);
            fence.unit(lock).waitAtMost(LIMIT).run(claim -> accounts.save(1, accounts.find(1) + 50));
            assertThat(child.state()).isEqualTo('T');
            child.resume();
            child.send("go on");
            return child.awaitLine("S", LIMIT);
        }
    }

    @Test
    void aProcessThatIsStoppedInsideOfAUnitIsRefusedWhenItWakes() throws Exception {
        assertThat(sleeper("fenced"))
                .startsWith(
                        "STALE Transaction (after 1 committed transaction of this unit, reads included) on PostgreSQL guard '"
                                + lock.name())
                .contains("A newer holder has taken over");
        assertThat(database.balance(1)).isEqualTo(150);
    }

    @Test
    void overAPlainDataSourceItLosesAnUpdate() throws Exception {
        assertThat(sleeper("plain")).isEqualTo("SAVED");
        assertThat(database.balance(1)).as("50 were accepted and are gone").isEqualTo(110);
    }
}
