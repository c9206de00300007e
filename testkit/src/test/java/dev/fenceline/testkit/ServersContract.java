package dev.fenceline.testkit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import java.time.Duration;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;

/** What servers do wherever they come from. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
abstract class ServersContract {

    private static final Duration LIMIT = Duration.ofSeconds(20);

    private final Servers servers = servers();

    abstract Servers servers();

    @AfterAll
    void close() {
        servers.close();
        assertThatIllegalStateException()
                .isThrownBy(() -> servers.redis(RedisSpec.master()))
                .withMessageContaining("These servers are closed");
    }

    @Test
    void redisAnswersAndKeepsWhatItIsTold() {
        RedisServer redis = servers.redis(RedisSpec.master().persistent().setting("maxmemory-policy", "allkeys-lru"));
        assertThat(redis.command("PING")).isEqualTo("PONG");
        assertThat(redis.command("SET", "k", "v")).isEqualTo("OK");
        assertThat(redis.command("GET", "k")).isEqualTo("v");
        assertThat(redis.command("CONFIG", "GET", "maxmemory-policy")).endsWith("allkeys-lru");
        assertThat(redis.command("CONFIG", "GET", "appendfsync")).endsWith("always");
        assertThat(redis.uri()).isEqualTo("redis://" + redis.host() + ":" + redis.port());
    }

    @Test
    void aReplicaFollowsAMasterWithAPassword() {
        RedisSpec secured = RedisSpec.master().password("open-sesame");
        RedisServer master = servers.redis(secured);
        RedisServer replica = servers.redis(secured.replicaOf(master));
        master.command("SET", "k", "v");
        Polling.until("the replica has the write", LIMIT, () -> "v".equals(replica.command("GET", "k")));
        assertThat(replica.uri()).startsWith("redis://:open-sesame@");
    }

    @Test
    void postgresHasNewDatabasesAndRolesWithoutPasswords() {
        PostgresServer postgres = servers.postgres(PostgresSpec.primary().setting("work_mem", "5MB"));
        String database = postgres.newDatabase();
        assertThat(postgres.newDatabase()).isNotEqualTo(database);
        PostgresSessions.execute(postgres.dataSource(database), "CREATE ROLE clerk LOGIN");
        assertThat(PostgresSessions.query(
                        postgres.dataSource(database, "clerk"), "SELECT current_user || ' in ' || current_database()"))
                .isEqualTo("clerk in " + database);
        assertThat(PostgresSessions.query(postgres.dataSource(database), "SHOW work_mem"))
                .isEqualTo("5MB");
        assertThat(PostgresSessions.query(postgres.dataSource(database), "SHOW fsync"))
                .isEqualTo("off");
        assertThat(postgres.jdbcUrl(database)).contains(postgres.host() + ":" + postgres.port() + "/" + database);
    }

    @Test
    void aDurablePostgresSyncs() {
        PostgresServer postgres = servers.postgres(PostgresSpec.primary().durable());
        assertThat(PostgresSessions.query(postgres.dataSource("postgres"), "SHOW fsync"))
                .isEqualTo("on");
    }
}
