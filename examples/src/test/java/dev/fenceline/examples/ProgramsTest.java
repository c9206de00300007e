package dev.fenceline.examples;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.fenceline.FencedLease;
import dev.fenceline.FencingToken;
import dev.fenceline.LockName;
import dev.fenceline.LockOptions;
import dev.fenceline.Locks;
import dev.fenceline.StaleTokenException;
import dev.fenceline.TokenRejectedException;
import dev.fenceline.UnfencedWriteException;
import dev.fenceline.jdbc.PostgresFence;
import dev.fenceline.jdbc.repository.FencedRepository;
import dev.fenceline.lock.RedisLocks;
import dev.fenceline.migrations.FenceMigrations;
import dev.fenceline.testkit.PostgresServer;
import dev.fenceline.testkit.SharedServers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.regex.Pattern;
import javax.sql.DataSource;
import org.jdbi.v3.core.Jdbi;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** The programs that the README quotes do what it says. */
@Tag("server")
class ProgramsTest {

    private static final String REDIS = SharedServers.redis().uri();

    /** A job that was done a moment ago by another test is not due yet. */
    private final String keys = "examples-" + UUID.randomUUID();

    private String url;
    private DataSource database;

    @BeforeEach
    void freshDatabase() throws Exception {
        PostgresServer postgres = SharedServers.postgres();
        String name = postgres.newDatabase();
        url = postgres.jdbcUrl(name);
        database = postgres.dataSource(name);
        FenceMigrations.on(database).install();
        AccountTable.create(database);
    }

    @Test
    void aRowIsProtectedInFifteenLines() throws Exception {
        assertThat(ProtectARow.withdraw(REDIS, database)).isEqualTo(98_750);
        assertThat(balance()).isEqualTo(98_750);
    }

    @Test
    void programsSetUpWhatTheyNeed() throws Exception {
        PostgresServer postgres = SharedServers.postgres();
        String empty = postgres.newDatabase();
        ProtectARow.main(new String[] {REDIS, postgres.jdbcUrl(empty)});
        PartByPart.main(new String[] {REDIS, url});
        SkipIfRunning.main(new String[] {REDIS});
        TakeLocks.main(new String[] {REDIS});
        FormsOfFence.main(new String[] {REDIS, postgres.jdbcUrl(postgres.newDatabase())});
        RowsOfATable.main(new String[] {REDIS, postgres.jdbcUrl(postgres.newDatabase())});
        WrapARepository.main(new String[] {REDIS, postgres.jdbcUrl(postgres.newDatabase())});
        try (Connection connection = postgres.dataSource(empty).getConnection()) {
            assertThat(AccountTable.balanceOf(connection, 42)).isEqualTo(98_750);
        }
    }

    @Test
    void theRoleOfTheApplicationCanUseTheFenceAfterInstall() throws Exception {
        PostgresServer postgres = SharedServers.postgres();
        String empty = postgres.newDatabase();
        try (Connection connection = postgres.dataSource(empty).getConnection();
                Statement statement = connection.createStatement()) {
            statement.execute("DROP ROLE IF EXISTS app");
            statement.execute("CREATE ROLE app LOGIN");
        }
        InstallTheFence.main(new String[] {postgres.jdbcUrl(empty)});
        try (Locks locks = connected();
                FencedLease lease = locks.fenced(LockName.of("account", 42)).acquire()) {
            PostgresFence fence = PostgresFence.on(postgres.dataSource(empty, "app"));
            assertThat(fence.claim(lease).<Integer, RuntimeException>inTransaction(connection -> 1))
                    .isEqualTo(1);
        }
    }

    @Test
    void eachFormOfTheFenceWithdrawsOnce() throws Exception {
        PostgresFence fence = PostgresFence.on(database);
        try (Locks locks = connected()) {
            assertThat(FormsOfFence.oneStatement(locks, fence)).isEqualTo(1);
            assertThat(balance()).isEqualTo(98_750);
            FormsOfFence.addMarks(database);
            assertThat(FormsOfFence.oneRow(locks, database)).isEqualTo(97_500);
            FormsOfFence.protect(database);
            assertThat(FormsOfFence.ownTransaction(locks, database)).isEqualTo(96_250);
            assertThat(balance()).isEqualTo(96_250);
        }
        try (Connection connection = database.getConnection()) {
            assertThatThrownBy(() -> AccountTable.setBalance(connection, 42, 0))
                    .as("who did not enter")
                    .isInstanceOfSatisfying(
                            SQLException.class, e -> assertThat(e.getSQLState()).isEqualTo("FL001"));
        }
    }

    @Test
    void theSqlOfTheReadmeRunsAsItStands() throws Exception {
        List<String> statements = Pattern.compile("```sql\\n(.*?)```", Pattern.DOTALL)
                .matcher(Files.readString(Path.of("..", "README.md")))
                .results()
                .flatMap(block -> block.group(1).lines())
                .toList();
        try (Connection connection = database.getConnection();
                Statement statement = connection.createStatement()) {
            for (String each : statements) {
                statement.execute(each);
            }
            assertThatThrownBy(() -> statement.execute("UPDATE account SET balance_cents = 1"))
                    .as("it ends with a table that is protected")
                    .hasMessageContaining("it needs lock 'account:42'");
            assertThat(AccountTable.balanceOf(connection, 42))
                    .as("which the last statement went around")
                    .isZero();
        }
    }

    @Test
    void rowsOfATableAreReducedTogetherAloneAndBlindly() throws Exception {
        RowsOfATable.create(database);
        try (Locks locks = connected()) {
            assertThat(RowsOfATable.allLines(locks, database)).isEqualTo(3);
            assertThat(RowsOfATable.oneLine(locks, Jdbi.create(database))).isEqualTo(800);
            RowsOfATable.seen(locks, database);
        }
        try (Connection connection = database.getConnection();
                Statement statement = connection.createStatement();
                ResultSet lines = statement.executeQuery("SELECT string_agg(cents || note, ' ' ORDER BY number)"
                        + " || ', seen ' || count(seen_at) FROM order_line")) {
            lines.next();
            assertThat(lines.getString(1)).isEqualTo("800reduced 1800 2700, seen 1");
        }
    }

    @Test
    void aRepositoryIsWrappedAndItsWritesOutsideOfAUnitAreRefused() throws Exception {
        try (Locks locks = connected()) {
            FencedRepository<WrapARepository.Accounts> accounts = WrapARepository.wrapped(locks, database);
            assertThat(WrapARepository.book(accounts)).isSameAs(accounts);
            assertThat(balance()).isEqualTo(100_000 - 1_250 - 500 + 500);
            assertThatThrownBy(() ->
                            accounts.proxy().save(accounts.proxy().findById(42).plus(1)))
                    .isInstanceOf(UnfencedWriteException.class)
                    .hasMessageContaining(
                            "accounts.unit(LockName.of(\"account\", 42), a -> { var x = a.findById(42); …; a.save(x); });");
        }
        assertThat(balance()).isEqualTo(98_750);
    }

    @Test
    void workGoesOnElsewhereUnderTheSameClaim() throws Exception {
        assertThat(PartByPart.charge(REDIS, database)).isEqualTo(100_000);
        assertThat(balance()).isEqualTo(100_000);
    }

    @Test
    void workElsewhereEndsWhenSomebodyNewerHasClaimed() throws Exception {
        PostgresFence fence = PostgresFence.on(database);
        String header;
        try (Locks locks = connected()) {
            try (FencedLease first = locks.fenced(LockName.of("account", 42)).acquire()) {
                header = fence.claim(first).token().encode();
            }
            try (FencedLease second = locks.fenced(LockName.of("account", 42)).acquire()) {
                fence.claim(second);
                assertThatThrownBy(() -> PartByPart.elsewhere(fence, header, 500))
                        .isInstanceOf(StaleTokenException.class)
                        .hasMessageContaining("is older by")
                        .hasMessageContaining("already accepted here");
            }
        }
        assertThat(balance()).isEqualTo(100_000);
    }

    @Test
    void aTokenOfAnotherLockIsRejectedElsewhere() throws Exception {
        PostgresFence fence = PostgresFence.on(database);
        try (Locks locks = connected();
                FencedLease other = locks.fenced(LockName.of("account", 43)).acquire()) {
            String header = fence.claim(other).token().encode();
            assertThatThrownBy(() -> PartByPart.elsewhere(fence, header, 500))
                    .isInstanceOf(TokenRejectedException.class)
                    .hasMessageContaining("it belongs to another lock. Take the lock 'account:42'");
        }
    }

    @Test
    void theSecondInstanceSkipsAlsoWhenItComesALittleLate() {
        AtomicInteger runs = new AtomicInteger();
        Duration late = Duration.ofSeconds(20);
        try (Locks one = connected();
                Locks two = connected()) {
            assertThat(SkipIfRunning.report(one, late, () -> {
                        runs.incrementAndGet();
                        assertThat(SkipIfRunning.report(two, late, runs::incrementAndGet))
                                .isFalse();
                    }))
                    .isTrue();
            assertThat(SkipIfRunning.report(two, late, runs::incrementAndGet)).isFalse();
        }
        assertThat(runs).hasValue(1);
    }

    @Test
    void locksAreTakenInEachWayAndFreeAgain() throws Exception {
        try (Locks locks = connected()) {
            FencingToken first = TakeLocks.forSomeWork(locks);
            assertThat(TakeLocks.several(locks))
                    .hasSize(2)
                    .allSatisfy(token -> assertThat(token.value()).isPositive());
            FencingToken last = TakeLocks.withoutAThread(locks).get(20, TimeUnit.SECONDS);
            assertThat(last.value()).isGreaterThan(first.value());
            assertThat(locks.fenced(LockName.of("account", 42)).tryAcquire()).isPresent();
        }
    }

    private Locks connected() {
        return RedisLocks.connect(
                REDIS,
                LockOptions.builder()
                        .keyPrefix(keys)
                        .masterClockSkew(Duration.ZERO)
                        .build());
    }

    private long balance() throws Exception {
        try (Connection connection = database.getConnection()) {
            return AccountTable.balanceOf(connection, 42);
        }
    }
}
