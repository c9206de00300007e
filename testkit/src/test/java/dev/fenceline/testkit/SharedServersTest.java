package dev.fenceline.testkit;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@Tag("server")
class SharedServersTest {

    @Test
    void everyTestGetsTheSameServers() {
        assertThat(SharedServers.redis()).isSameAs(SharedServers.redis());
        assertThat(SharedServers.postgres()).isSameAs(SharedServers.postgres());
        assertThat(SharedServers.redis().command("PING")).isEqualTo("PONG");
        String database = SharedServers.postgres().newDatabase();
        assertThat(PostgresSessions.query(SharedServers.postgres().dataSource(database), "SELECT current_database()"))
                .isEqualTo(database);
    }
}
