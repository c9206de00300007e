package dev.fenceline.s3;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.fenceline.BackendMisconfiguredException;
import dev.fenceline.BackendUnavailableException;
import dev.fenceline.Finding;
import dev.fenceline.testkit.EmbeddedServers;
import dev.fenceline.testkit.FaultProxy;
import dev.fenceline.testkit.S3FaultProxy;
import dev.fenceline.testkit.S3Server;
import dev.fenceline.testkit.Servers;
import dev.fenceline.testkit.SharedServers;
import java.net.URI;
import java.time.Duration;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import software.amazon.awssdk.services.s3.S3Client;

@Tag("server")
@Tag("s3proxy")
class ProbeTest {

    static EmbeddedServers servers;

    @BeforeAll
    static void open() {
        servers = Servers.embedded();
    }

    @AfterAll
    static void close() {
        servers.close();
    }

    @Test
    void anAtomicStoreIsSafeAndTheProbeLeavesNothing() {
        S3Server server = SharedServers.s3();
        try (S3Client client = TestStore.client(server)) {
            String bucket = server.newBucket();
            S3ProbeReport report = S3Probe.of(client, bucket).run();

            assertThat(report.findings()).isEmpty();
            assertThat(report.isSafe()).isTrue();
            assertThat(report.etagForm()).isEqualTo(EtagForm.AS_RECEIVED);
            assertThat(report.resource()).isEqualTo("S3 bucket '" + bucket + "'");
            assertThat(client.listObjectsV2(list -> list.bucket(bucket)).contents())
                    .isEmpty();
        }
    }

    /** Once is luck: a store that is refused most times loses data the other time. */
    @RepeatedTest(5)
    void aStoreThatRacesIsRefusedEachTime() {
        S3Server server = servers.racingS3();
        try (S3Client client = TestStore.client(server)) {
            assertThat(S3Probe.of(client, server.newBucket()).run().isSafe()).isFalse();
        }
    }

    @Test
    void aStoreThatRacesIsRefusedThoughItPassesOneWriterAfterTheOther() {
        S3Server server = servers.racingS3();
        try (S3Client client = TestStore.client(server)) {
            String bucket = server.newBucket();
            assertThat(S3Probe.of(client, bucket).run().findings())
                    .extracting(Finding::code)
                    .containsExactly("s3-race");
            assertThatThrownBy(() -> S3Fence.envelope().on(client, bucket))
                    .isInstanceOf(BackendMisconfiguredException.class)
                    .hasMessageStartingWith("Fence on S3 bucket '" + bucket + "' refused.")
                    .hasMessageContaining("loses races: of 8 writers with one condition ")
                    .hasMessageContaining("were told that they succeeded")
                    .hasMessageContaining("Use a store that does both in one step.");
        }
    }

    @Test
    void aStoreThatIgnoresConditionsIsRefused() {
        S3Server server = servers.ignoringS3();
        try (S3Client client = TestStore.client(server)) {
            String bucket = server.newBucket();
            assertThatThrownBy(() -> S3Fence.pointer().on(client, bucket))
                    .isInstanceOf(BackendMisconfiguredException.class)
                    .hasMessageContaining("ignores If-None-Match: it wrote over an object that was there");
        }
    }

    @Test
    void aBucketThatIsNotThereIsASettingAndAStoreThatIsNotThereIsNot() {
        S3Server server = SharedServers.s3();
        try (S3Client client = TestStore.client(server);
                S3Client nowhere =
                        TestStore.client(server, URI.create("http://127.0.0.1:1"), TestStore::withoutRetries)) {
            assertThatThrownBy(() -> S3Fence.envelope().on(client, "no-such-bucket"))
                    .isInstanceOf(BackendMisconfiguredException.class)
                    .hasMessageContaining("refused by the store: 404 NoSuchBucket")
                    .hasMessageContaining("Compare the name of the bucket");
            assertThatThrownBy(() -> S3Fence.envelope().on(nowhere, "bucket"))
                    .isInstanceOf(BackendUnavailableException.class)
                    .hasMessageContaining("Probe on S3 object 's3://bucket/.fenceline-probe/")
                    .hasMessageContaining("Connection refused");
        }
    }

    @Test
    void aStoreThatDoesNotTellAMissingObjectFromAForbiddenOneIsRefused() {
        S3Server server = SharedServers.s3();
        try (S3FaultProxy proxy = S3FaultProxy.to(server);
                S3Client client = TestStore.client(server, proxy.endpoint(), TestStore::withoutRetries)) {
            proxy.on("any GET", request -> request.method().equals("GET"))
                    .each()
                    .answerInstead(403, "AccessDenied");
            assertThatThrownBy(() -> S3Fence.envelope().on(client, server.newBucket()))
                    .isInstanceOf(BackendMisconfiguredException.class)
                    .hasMessageContaining("403 AccessDenied")
                    .hasMessageContaining("s3:ListBucket");
        }
    }

    @Test
    void aClientIsProbedOncePerBucketAndAReportTakesThePlaceOfAProbe() {
        S3Server server = SharedServers.s3();
        try (S3FaultProxy proxy = S3FaultProxy.to(server);
                S3Client client = TestStore.client(server, proxy.endpoint(), TestStore::withoutRetries)) {
            String bucket = server.newBucket();
            S3Fence.envelope().on(client, bucket);
            assertThat(proxy.requests().size()).isGreaterThan(400);
            assertThat(proxy.requests())
                    .allSatisfy(request -> assertThat(request.key()).startsWith(".fenceline-probe/"));

            proxy.forget();
            S3Fence.pointer().on(client, bucket);
            assertThat(proxy.requests()).isEmpty();

            S3ProbeReport report = new S3ProbeReport("S3 bucket 'x'", EtagForm.AS_RECEIVED, java.util.List.of());
            S3Fence.pointer().probed(report).on(client, server.newBucket());
            assertThat(proxy.requests()).isEmpty();
        }
    }

    /** What one encryption has shown says nothing of another: a store may refuse it, or hand out other ETags under it. */
    @Test
    void aClientIsProbedAgainWithAnotherEncryption() {
        S3Server server = SharedServers.s3();
        try (S3FaultProxy proxy = S3FaultProxy.to(server);
                S3Client client = TestStore.client(server, proxy.endpoint(), TestStore::withoutRetries)) {
            String bucket = server.newBucket();
            S3Fence.envelope().on(client, bucket);
            proxy.on(
                            "encrypted",
                            request -> request.header("x-amz-server-side-encryption")
                                    .isPresent())
                    .each()
                    .answerInstead(400, "InvalidEncryptionAlgorithmError");
            assertThatThrownBy(() ->
                            S3Fence.envelope().encryption(S3Encryption.s3()).on(client, bucket))
                    .isInstanceOf(BackendMisconfiguredException.class)
                    .hasMessageContaining("refused by the store: 400 InvalidEncryptionAlgorithmError");
        }
        byte[] key = new byte[32];
        assertThat(S3Encryption.customerKey(key)).isEqualTo(S3Encryption.customerKey(key.clone()));
        assertThat(S3Encryption.customerKey(key)).hasSameHashCodeAs(S3Encryption.customerKey(key.clone()));
        byte[] other = key.clone();
        other[31] = 1;
        assertThat(S3Encryption.customerKey(key)).isNotEqualTo(S3Encryption.customerKey(other));
        assertThat(S3Encryption.kms("a")).isNotEqualTo(S3Encryption.kms("b")).isNotEqualTo(S3Encryption.s3());
    }

    @Test
    void aStoreThatWantsTheEtagWithoutItsQuotesGetsItSo() {
        S3Server server = SharedServers.s3();
        try (S3FaultProxy proxy = S3FaultProxy.to(server);
                S3Client client = TestStore.client(server, proxy.endpoint(), TestStore::withoutRetries)) {
            proxy.on(
                            "If-Match in quotes",
                            request -> request.header("if-match")
                                    .filter(etag -> etag.startsWith("\""))
                                    .isPresent())
                    .each()
                    .answerInstead(412, "PreconditionFailed");
            String bucket = server.newBucket();
            S3ProbeReport report = S3Probe.of(client, bucket).run();
            assertThat(report.etagForm()).isEqualTo(EtagForm.UNQUOTED);
            assertThat(report.findings()).extracting(Finding::code).containsExactly("s3-etag-unquoted");
            assertThat(report.isSafe()).isTrue();

            String key = TestStore.freshKey();
            EnvelopeFence fence = S3Fence.envelope().probed(report).on(client, bucket);
            fence.claim(TestStore.token(key), key).write(S3Body.of("1"));
            proxy.forget();
            fence.claim(TestStore.token(key), key).write(S3Body.of("2"));
            assertThat(proxy.requests())
                    .filteredOn(request -> request.method().equals("PUT"))
                    .hasSize(2)
                    .allSatisfy(put ->
                            assertThat(put.header("if-match").orElseThrow()).doesNotContain("\""));
            assertThat(fence.read(key).orElseThrow().text()).isEqualTo("2");
        }
    }

    /** Of a race that nobody has won it is not known whether two could have won it. */
    @Test
    void racesWithoutAWinnerProveNothing() {
        S3Server server = servers.racingS3();
        try (S3FaultProxy proxy = S3FaultProxy.to(server);
                S3Client client = TestStore.client(server, proxy.endpoint(), TestStore::withoutRetries)) {
            proxy.on(
                            "PUT of a race",
                            request -> request.method().equals("PUT")
                                    && request.key().contains("/race-"))
                    .each()
                    .answerInstead(503, "SlowDown");
            String bucket = server.newBucket();
            assertThatThrownBy(() -> S3Fence.envelope().on(client, bucket))
                    .isInstanceOf(BackendUnavailableException.class)
                    .hasMessageStartingWith("Probe on S3 object 's3://" + bucket + "/.fenceline-probe/")
                    .hasMessageContaining(
                            "failed: 503 SlowDown. Of 20 races of 8 writers 0 had a winner, and 10 are needed"
                                    + " to tell whether a second one could have won.");
        }
    }

    @Test
    void anAnswerThatIsLostDuringTheProbeIsNoVerdictOnTheStore() {
        S3Server server = SharedServers.s3();
        try (S3FaultProxy proxy = S3FaultProxy.to(server);
                S3Client client = TestStore.client(server, proxy.endpoint(), TestStore::withoutRetries)) {
            String bucket = server.newBucket();
            proxy.on("PUT", request -> request.method().equals("PUT")).nth(1).loseAnswer(FaultProxy.Cut.FIN);
            assertThatThrownBy(() -> S3Probe.of(client, bucket).run())
                    .isInstanceOf(BackendUnavailableException.class)
                    .hasMessageContaining("Nothing but the probe's own objects was touched");
            assertThat(S3Probe.of(client, bucket)
                            .requestTimeout(Duration.ofSeconds(3))
                            .run()
                            .isSafe())
                    .isTrue();
        }
    }
}
