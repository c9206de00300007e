package dev.fenceline.verification;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.fenceline.FencedLease;
import dev.fenceline.FencedLock;
import dev.fenceline.LockName;
import dev.fenceline.Locks;
import dev.fenceline.StaleTokenException;
import dev.fenceline.jdbc.Claim;
import dev.fenceline.jdbc.PostgresFence;
import dev.fenceline.lock.RedisLocks;
import dev.fenceline.migrations.FenceMigrations;
import dev.fenceline.testkit.PostgresServer;
import dev.fenceline.testkit.PostgresSpec;
import dev.fenceline.testkit.RedisSpec;
import dev.fenceline.testkit.Servers;
import java.sql.Connection;
import javax.sql.DataSource;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** The whole way once, lock, schema and fence, on servers in containers. Runs with the profile of that name. */
@Tag("containers")
class ContainersTest {

    @Test
    void anOvertakenWriterIsRefused() throws Exception {
        try (Servers servers = Servers.containers()) {
            PostgresServer postgres = servers.postgres(PostgresSpec.primary());
            DataSource database = postgres.dataSource(postgres.newDatabase());
            FenceMigrations.on(database).install();
            PostgresFence fence = PostgresFence.on(database);
            try (Locks locks =
                    RedisLocks.connect(servers.redis(RedisSpec.master()).uri())) {
                FencedLock account = locks.fenced(LockName.of("account", 42));
                Claim<Connection> overtaken;
                try (FencedLease lease = account.acquire()) {
                    overtaken = fence.claim(lease);
                    overtaken.useTransaction(c -> c.createStatement().execute("CREATE TABLE account (balance int)"));
                }
                try (FencedLease lease = account.acquire()) {
                    fence.claim(lease)
                            .useTransaction(c -> c.createStatement().execute("INSERT INTO account VALUES (7)"));
                }
                assertThatThrownBy(() -> overtaken.useTransaction(
                                c -> c.createStatement().execute("UPDATE account SET balance = 0")))
                        .isInstanceOf(StaleTokenException.class)
                        .hasMessageContaining("A newer holder has taken over");
                try (Connection connection = database.getConnection();
                        var rows = connection.createStatement().executeQuery("SELECT balance FROM account")) {
                    assertThat(rows.next()).isTrue();
                    assertThat(rows.getInt(1)).isEqualTo(7);
                }
            }
        }
    }
}
