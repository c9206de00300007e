package dev.fenceline.jdbc.samples;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.fenceline.LockName;
import dev.fenceline.LockOptions;
import dev.fenceline.Locks;
import dev.fenceline.UnfencedWriteException;
import dev.fenceline.jdbc.JdbiFence;
import dev.fenceline.jdbc.repository.FencedRepository;
import dev.fenceline.jdbc.samples.bank.Account;
import dev.fenceline.jdbc.samples.bank.BankDao;
import dev.fenceline.jdbc.samples.bank.InsufficientFundsException;
import dev.fenceline.lock.RedisLocks;
import dev.fenceline.migrations.FenceMigrations;
import dev.fenceline.testkit.RealServers;
import dev.fenceline.testkit.RedisServer;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import javax.sql.DataSource;
import org.jdbi.v3.core.Jdbi;
import org.jdbi.v3.sqlobject.SqlObjectPlugin;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** A bank's DAO that Jdbi makes, with transfers under two locks, wrapped as it is. */
@Tag("server")
@RealServers
class BankTest {

    private final Jdbi jdbi;
    private final TwoAtOnce play;
    private final Locks locks;
    private final FencedRepository<BankDao> bank;

    BankTest(DataSource database, RedisServer redis, LockOptions.Builder options) {
        this.jdbi = Jdbi.create(database).installPlugin(new SqlObjectPlugin());
        this.play = new TwoAtOnce(database, "bank_account WHERE id = 1");
        this.locks = RedisLocks.connect(redis.uri(), options.listener(play).build());
        this.bank = FencedRepository.of(BankDao.class, JdbiFence.on(jdbi), locks)
                .sqlObject(BankDao.class)
                .lock("account", "from")
                .lock("account", "to")
                .lock(Account.class, account -> LockName.of("account", account.id()))
                .reads("find*", "list*")
                .selfContained("transfer")
                .build();
    }

    @BeforeAll
    static void schema(DataSource database) {
        FenceMigrations.on(database).install();
        Jdbi.create(database).useHandle(handle -> handle.execute("""
                        CREATE TABLE bank_account (id bigint PRIMARY KEY, owner text NOT NULL, balance bigint NOT NULL);
                        CREATE TABLE booking (debtor bigint NOT NULL, creditor bigint NOT NULL, amount bigint NOT NULL)"""));
    }

    @BeforeEach
    void accounts() {
        jdbi.useHandle(handle -> handle.execute("""
                TRUNCATE bank_account, booking;
                INSERT INTO bank_account SELECT id, 'owner ' || id, 100 FROM generate_series(1, 3) id"""));
    }

    @AfterEach
    void close() {
        locks.close();
    }

    @Test
    void twoTransfersFromOneAccountAreBothBooked() throws Exception {
        play.fenced(() -> transferred(bank.proxy(), 1, 2, 10), () -> transferred(bank.proxy(), 1, 3, 20));

        assertThat(balances()).containsExactly(70L, 110L, 120L);
    }

    @Test
    void withoutTheWrapperMoneyIsMade() throws Exception {
        BankDao bare = jdbi.onDemand(BankDao.class);
        play.unfenced(() -> transferred(bare, 1, 2, 10), () -> transferred(bare, 1, 3, 20));

        assertThat(balances().stream().mapToLong(Long::longValue).sum())
                .as("money in the bank, of 300: %s", balances())
                .isGreaterThan(300);
    }

    private static boolean transferred(BankDao dao, long from, long to, long amount) throws InsufficientFundsException {
        dao.transfer(from, to, amount);
        return true;
    }

    @Test
    void transfersInCirclesNeitherBlockEachOtherNorMakeMoney() throws Exception {
        ExecutorService threads = Executors.newFixedThreadPool(3);
        try {
            List<? extends Future<?>> clerks = IntStream.rangeClosed(1, 3)
                    .mapToObj(from -> threads.submit(() -> {
                        for (int i = 0; i < 5; i++) {
                            transferred(bank.proxy(), from, from % 3 + 1, 7);
                        }
                        return true;
                    }))
                    .toList();
            for (Future<?> clerk : clerks) {
                clerk.get(60, TimeUnit.SECONDS);
            }
        } finally {
            threads.shutdownNow();
        }
        assertThat(balances()).containsExactly(100L, 100L, 100L);
        assertThat(jdbi.<Integer, RuntimeException>withHandle(handle -> handle.select("SELECT count(*) FROM booking")
                        .mapTo(Integer.class)
                        .one()))
                .isEqualTo(15);
    }

    @Test
    void itsOwnExceptionComesOutAndUndoesTheTransfer() {
        assertThatThrownBy(() -> bank.proxy().transfer(1, 2, 1_000))
                .isInstanceOf(InsufficientFundsException.class)
                .hasMessage("Account 1 has 100, not 1000");
        assertThat(balances()).containsExactly(100L, 100L, 100L);
    }

    @Test
    void aTransferInAUnitNeedsBothOfItsLocks() throws Exception {
        LockName one = LockName.of("account", 1);
        assertThatThrownBy(() -> bank.unit(one, dao -> dao.transfer(1, 2, 10)))
                .isInstanceOf(UnfencedWriteException.class)
                .hasMessageContaining("account:2");
        bank.unit(List.of(LockName.of("account", 2), one), dao -> {
            dao.transfer(1, 2, 10);
            dao.update(dao.findAccount(1).withBalance(5));
        });
        assertThat(balances()).containsExactly(5L, 110L, 100L);
    }

    private List<Long> balances() {
        return bank.proxy().listAccounts().stream().map(Account::balance).toList();
    }
}
