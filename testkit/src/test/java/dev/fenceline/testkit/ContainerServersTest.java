package dev.fenceline.testkit;

import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@Tag("containers")
class ContainerServersTest extends ServersContract {

    @Override
    Servers servers() {
        return Servers.containers();
    }

    @Test
    void aReplicaOfAMasterOutsideIsRefused() {
        RedisServer outside = SharedServers.redis();
        try (Servers servers = Servers.containers()) {
            assertThatIllegalArgumentException()
                    .isThrownBy(() -> servers.redis(RedisSpec.master().replicaOf(outside)))
                    .withMessageContaining("cannot reach the master Redis on port " + outside.port());
        }
    }
}
