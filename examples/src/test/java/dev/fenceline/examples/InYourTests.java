package dev.fenceline.examples;

import static dev.fenceline.examples.AccountTable.balanceOf;
import static dev.fenceline.examples.AccountTable.setBalance;
import static org.assertj.core.api.Assertions.assertThat;

import dev.fenceline.FencedLock;
import dev.fenceline.LockName;
import dev.fenceline.LockOptions;
import dev.fenceline.Locks;
import dev.fenceline.jdbc.PostgresFence;
import dev.fenceline.lock.RedisLocks;
import dev.fenceline.migrations.FenceMigrations;
import dev.fenceline.testkit.RealServers;
import dev.fenceline.testkit.RedisServer;
import javax.sql.DataSource;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Real servers for a test of your own, from the testkit. */
@Tag("server")
// snippet: in-your-tests
@RealServers
class InYourTests {

    @BeforeAll
    static void schema(DataSource database) throws Exception { // an empty database of this class
        FenceMigrations.on(database).install();
        AccountTable.create(database);
    }

    @Test
    void aWithdrawalIsBooked(RedisServer redis, LockOptions options, DataSource database) throws Exception {
        try (Locks locks = RedisLocks.connect(redis.uri(), options)) { // with a key prefix of this class
            FencedLock lock = locks.fenced(LockName.of("account", 42));
            PostgresFence fence = PostgresFence.on(database);
            fence.under(lock).run(connection -> setBalance(connection, 42, balanceOf(connection, 42) - 1_250));
            long left = fence.under(lock).call(connection -> balanceOf(connection, 42));
            assertThat(left).isEqualTo(98_750);
        }
    }
}
// end snippet
