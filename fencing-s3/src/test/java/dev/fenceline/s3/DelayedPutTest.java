package dev.fenceline.s3;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.fenceline.BackendUnavailableException;
import dev.fenceline.testkit.S3FaultProxy;
import dev.fenceline.testkit.SharedServers;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import software.amazon.awssdk.core.exception.SdkClientException;
import software.amazon.awssdk.core.sync.RequestBody;
import software.amazon.awssdk.http.apache5.Apache5HttpClient;
import software.amazon.awssdk.services.s3.S3Client;

/** A PUT that its client has given up can still arrive. Who reads back and calls that the truth is contradicted by it. */
@Tag("server")
class DelayedPutTest {

    private static final Duration LIMIT = Duration.ofSeconds(60);
    private static final Duration PATIENCE = Duration.ofSeconds(1);

    private final TestStore straight = TestStore.fresh();
    private final String key = TestStore.freshKey();
    private S3FaultProxy proxy;
    private S3Client client;

    @BeforeEach
    void open() {
        proxy = S3FaultProxy.to(SharedServers.s3());
        client = TestStore.client(SharedServers.s3(), proxy.endpoint(), builder -> {
            TestStore.withoutRetries(builder);
            builder.httpClientBuilder(Apache5HttpClient.builder().socketTimeout(PATIENCE));
        });
    }

    @AfterEach
    void close() {
        client.close();
        proxy.close();
    }

    @Test
    void readingBackAloneCallsAWriteNotDoneThatIsDoneLater() {
        String before = straight.client
                .putObject(put -> put.bucket(straight.bucket).key(key), RequestBody.fromString("before"))
                .eTag();
        S3FaultProxy.Armed delayed = proxy.on("PUT", key).holdRequest();
        assertThatThrownBy(() -> client.putObject(
                        put -> put.bucket(straight.bucket).key(key).ifMatch(TestStore.ifMatch(before)),
                        RequestBody.fromString("late")))
                .isInstanceOf(SdkClientException.class);
        boolean done = !client.headObject(head -> head.bucket(straight.bucket).key(key))
                .eTag()
                .equals(before);
        assertThat(done).as("the verdict of reading back").isFalse();

        delayed.letGo();
        assertThat(delayed.awaitAnswer(LIMIT)).isEqualTo(200);
        assertThat(straight.raw(key))
                .as("against that verdict")
                .asString(StandardCharsets.UTF_8)
                .isEqualTo("late");
    }

    @Test
    void theFenceRewritesTheObjectSoThatTheDelayedPutIsRefused() {
        EnvelopeClaim claim = straight.by(client).envelope(PATIENCE).claim(TestStore.token(key), key);
        S3FaultProxy.Armed delayed = proxy.on("PUT", key).holdRequest();
        assertThatThrownBy(() -> claim.write("late".getBytes(StandardCharsets.UTF_8)))
                .isInstanceOf(BackendUnavailableException.class)
                .hasMessageContaining(key);

        delayed.letGo();
        assertThat(delayed.awaitAnswer(LIMIT)).isEqualTo(412);
        assertThat(straight.envelope().read(key)).isEmpty();
    }
}
