package dev.fenceline.testkit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@Tag("server")
class RedisSentinelTest {

    private final EmbeddedServers servers = Servers.embedded();

    @AfterEach
    void stop() {
        servers.close();
    }

    @Test
    void aReplicaTakesOverFromAKilledMasterWhichComesBackAsAReplica() {
        RedisSentinel deployment = servers.sentinel(SentinelSpec.pair());
        RedisProcess old = deployment.master();
        assertThat(old).isSameAs(deployment.servers().get(0));
        old.command("SET", "k", "v");
        old.awaitReplicaInSync();

        old.kill();
        RedisProcess promoted = deployment.awaitMasterOtherThan(old);

        assertThat(promoted.port()).isNotEqualTo(old.port());
        assertThat(promoted.command("GET", "k")).isEqualTo("v");
        promoted.command("SET", "k", "later");
        old.restart();
        assertThat(deployment.awaitReplicas()).containsExactly(old);
        promoted.awaitReplicaInSync();
        assertThat(old.command("GET", "k")).isEqualTo("later");
        assertThat(deployment.master()).isSameAs(promoted);
    }

    @Test
    void aMajorityOfSentinelsReplacesAPausedMasterAlthoughOneOfThemIsDown() {
        RedisSentinel deployment =
                servers.sentinel(SentinelSpec.pair().replicas(2).sentinels(3));
        assertThat(deployment.uri())
                .isEqualTo("redis-sentinel://"
                        + String.join(
                                ",",
                                deployment.sentinels().stream()
                                        .map(sentinel -> sentinel.host() + ":" + sentinel.port())
                                        .toList())
                        + "#fenceline");
        deployment.sentinels().get(2).kill();
        RedisProcess old = deployment.master();
        old.pause();
        assertThat(deployment.awaitMasterOtherThan(old).command("SET", "k", "v"))
                .isEqualTo("OK");
        old.resume();
        assertThat(old.command("INFO", "replication")).contains("role:");
    }

    @Test
    void anOrderedFailoverChangesTheMasterAlthoughItRuns() {
        RedisSentinel deployment = servers.sentinel(SentinelSpec.pair());
        RedisProcess first = deployment.master();
        RedisProcess second = deployment.failover();
        assertThat(second).isNotSameAs(first);
        assertThat(second.command("SET", "k", "v")).isEqualTo("OK");
        assertThat(deployment.master()).isSameAs(second);
    }

    @Test
    void aPromotedServerStartsAgainAsAMaster() {
        RedisSentinel deployment = servers.sentinel(SentinelSpec.pair());
        RedisProcess old = deployment.master();
        old.kill();
        RedisProcess promoted = deployment.awaitMasterOtherThan(old);
        promoted.restart();
        assertThat(promoted.command("INFO", "replication")).contains("role:master");
    }

    @Test
    void passwordsAreDemandedByServersAndSentinelsAndStandInNoMessage() {
        SentinelSpec spec = SentinelSpec.pair()
                .server(RedisSpec.master().password("open-sesame"))
                .sentinelPassword("open-barley");
        RedisSentinel deployment = servers.sentinel(spec);
        RedisProcess old = deployment.master();
        assertThat(deployment.uri()).startsWith("redis-sentinel://:open-sesame@127.0.0.1:");
        assertThat(deployment.failover()).isNotSameAs(old);
        SentinelProcess sentinel = deployment.sentinels().get(0);
        assertThatIllegalStateException()
                .isThrownBy(() ->
                        RedisCommands.run(sentinel.host(), sentinel.port(), Optional.empty(), "SENTINEL", "MASTERS"))
                .withMessageContaining("NOAUTH");
        assertThat(spec.toString() + deployment).doesNotContain("sesame", "barley");
    }

    @Test
    void withoutARunningSentinelNobodyNamesTheMaster() {
        RedisSentinel deployment = servers.sentinel(SentinelSpec.pair());
        deployment.sentinels().get(0).kill();
        assertThatIllegalStateException()
                .isThrownBy(deployment::master)
                .withMessage("No Sentinel runs, so none can name the master.");
    }

    @Test
    void aFailoverNeedsAReplicaAndASentinel() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> SentinelSpec.pair().replicas(0))
                .withMessage("A failover needs at least one replica and one Sentinel, not 0 and 1.");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> SentinelSpec.pair().sentinels(0))
                .withMessage("A failover needs at least one replica and one Sentinel, not 1 and 0.");
    }

    @Test
    void closingEndsEveryProcessAndRemovesItsFiles() {
        RedisSentinel deployment = servers.sentinel(SentinelSpec.pair());
        List<Long> pids = List.of(
                deployment.servers().get(0).pid(),
                deployment.servers().get(1).pid(),
                deployment.sentinels().get(0).pid());
        String directory = deployment
                .servers()
                .get(1)
                .command("CONFIG", "GET", "dir")
                .lines()
                .toList()
                .get(1);
        servers.close();
        assertThat(pids).allSatisfy(pid -> assertThat(ProcessTable.gone(pid)).isTrue());
        assertThat(Path.of(directory)).doesNotExist();
    }
}
