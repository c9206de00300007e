package dev.fenceline.testkit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.net.ConnectException;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import software.amazon.awssdk.core.exception.SdkClientException;
import software.amazon.awssdk.core.sync.RequestBody;
import software.amazon.awssdk.services.s3.S3Client;
import software.amazon.awssdk.services.s3.model.S3Object;

@Tag("server")
class S3FaultProxyTest {

    private static final Duration LIMIT = Duration.ofSeconds(20);
    private static final Duration SHORT = Duration.ofMillis(300);

    private final AtomicS3 server = SharedServers.s3();
    private final String bucket = server.newBucket();
    private final S3History history = server.watch(bucket, "k");
    private S3FaultProxy proxy;
    private S3Client client;

    @BeforeEach
    void open() {
        proxy = S3FaultProxy.to(server);
        client = S3Clients.of(server, proxy.endpoint(), LIMIT);
    }

    @AfterEach
    void close() {
        client.close();
        proxy.close();
    }

    private void put(String text) {
        client.putObject(S3Clients.put(bucket, "k").build(), S3Clients.body(text));
    }

    private List<String> written() {
        return history.bodies().stream()
                .map(body -> new String(body, StandardCharsets.UTF_8))
                .toList();
    }

    @Test
    void whatHasNoFaultGoesThroughUnchangedAndIsCounted() {
        byte[] large = new byte[300_000];
        Arrays.fill(large, (byte) 7);
        client.putObject(S3Clients.put(bucket, "a key/with+signs ü").build(), RequestBody.fromBytes(large));
        client.putObject(
                S3Clients.put(bucket, "of unknown length").build(),
                RequestBody.fromContentProvider(() -> new ByteArrayInputStream(large), "application/octet-stream"));
        assertThat(client.getObjectAsBytes(get -> get.bucket(bucket).key("a key/with+signs ü"))
                        .asByteArray())
                .isEqualTo(large);
        assertThat(client.headObject(head -> head.bucket(bucket).key("of unknown length"))
                        .contentLength())
                .isEqualTo(300_000);
        assertThat(client.listObjectsV2(list -> list.bucket(bucket)).contents())
                .extracting(S3Object::key)
                .containsExactly("a key/with+signs ü", "of unknown length");
        assertThat(S3Clients.status(() -> client.putObject(
                        S3Clients.put(bucket, "k").ifMatch("\"1\"").build(), S3Clients.body("no"))))
                .isEqualTo(404);
        client.deleteObject(delete -> delete.bucket(bucket).key("of unknown length"));

        assertThat(proxy.requests())
                .extracting(S3Request::method)
                .containsExactly("PUT", "PUT", "GET", "HEAD", "GET", "PUT", "DELETE");
        assertThat(proxy.requests())
                .extracting(S3Request::key)
                .containsExactly(
                        "a key/with+signs ü",
                        "of unknown length",
                        "a key/with+signs ü",
                        "of unknown length",
                        "",
                        "k",
                        "of unknown length");
        assertThat(proxy.requests()).extracting(S3Request::bucket).containsOnly(bucket);
        assertThat(proxy.requests().get(4).query()).contains("list-type=2");
        assertThat(proxy.requests().get(5).header("If-Match")).contains("\"1\"");
        assertThat(proxy.requests().get(5)).hasToString("PUT /" + bucket + "/k");
        proxy.forget();
        assertThat(proxy.requests()).isEmpty();
    }

    @ParameterizedTest
    @EnumSource(FaultProxy.Cut.class)
    void aDroppedRequestIsNotCarriedOut(FaultProxy.Cut cut) {
        S3FaultProxy.Armed fault = proxy.on("PUT", "k").dropRequest(cut);
        assertThatThrownBy(() -> put("lost")).isInstanceOf(SdkClientException.class);
        assertThat(fault.fired()).isTrue();
        put("next");
        assertThat(written()).containsExactly("next");
        assertThat(proxy.requests()).hasSize(2);
    }

    @ParameterizedTest
    @EnumSource(FaultProxy.Cut.class)
    void aLostAnswerBelongsToARequestThatWasCarriedOut(FaultProxy.Cut cut) {
        S3FaultProxy.Armed fault = proxy.on("PUT", "k").loseAnswer(cut);
        assertThatThrownBy(() -> put("done")).isInstanceOf(SdkClientException.class);
        assertThat(fault.awaitAnswer(LIMIT)).isEqualTo(200);
        assertThat(written()).containsExactly("done");
    }

    @Test
    void aHeldRequestIsCarriedOutWhenItIsLetGoAlthoughItsClientHasGivenUp() {
        S3FaultProxy.Armed fault = proxy.on("PUT", "k").holdRequest();
        try (S3Client hasty = S3Clients.of(server, proxy.endpoint(), SHORT)) {
            assertThatThrownBy(() -> hasty.putObject(S3Clients.put(bucket, "k").build(), S3Clients.body("late")))
                    .isInstanceOf(SdkClientException.class);
        }
        fault.awaitFired(LIMIT);
        put("meanwhile");
        assertThat(written()).containsExactly("meanwhile");
        assertThatIllegalStateException()
                .isThrownBy(() -> fault.awaitAnswer(Duration.ofMillis(1)))
                .withMessage(
                        "The server has not answered to PUT of 'k' within 1 ms: of 2 such requests the fault took 1, and 0 were"
                                + " answered. Is it still held?");

        fault.letGo();
        assertThat(fault.awaitAnswer(LIMIT)).isEqualTo(200);
        assertThat(written()).containsExactly("meanwhile", "late");
    }

    @Test
    void aHeldConditionalRequestIsRefusedWhenTheObjectHasChangedMeanwhile() {
        put("first");
        String etag = client.headObject(head -> head.bucket(bucket).key("k")).eTag();
        S3FaultProxy.Armed fault = proxy.on("PUT", "k").holdRequest();
        try (S3Client hasty = S3Clients.of(server, proxy.endpoint(), SHORT)) {
            assertThatThrownBy(() -> hasty.putObject(
                            S3Clients.put(bucket, "k").ifMatch(etag).build(), S3Clients.body("late")))
                    .isInstanceOf(SdkClientException.class);
        }
        put("second");
        fault.letGo();
        assertThat(fault.awaitAnswer(LIMIT)).isEqualTo(412);
        assertThat(written()).containsExactly("first", "second");
    }

    @Test
    void aHeldAnswerBelongsToARequestThatWasCarriedOut() {
        S3FaultProxy.Armed fault = proxy.on("PUT", "k").holdAnswer();
        try (S3Client hasty = S3Clients.of(server, proxy.endpoint(), SHORT)) {
            assertThatThrownBy(() -> hasty.putObject(S3Clients.put(bucket, "k").build(), S3Clients.body("done")))
                    .isInstanceOf(SdkClientException.class);
        }
        assertThat(fault.awaitAnswer(LIMIT)).isEqualTo(200);
        assertThat(written()).containsExactly("done");
    }

    @Test
    void anAnswerCanBeGivenInsteadOfTheStoreOrAfterIt() {
        proxy.on("PUT", "k").answerInstead(409, "ConditionalRequestConflict");
        assertThat(S3Clients.status(() -> put("one"))).isEqualTo(409);
        S3FaultProxy.Armed fault = proxy.on("PUT", "k").answerAfterwards(500, "InternalError");
        assertThat(S3Clients.status(() -> put("two"))).isEqualTo(500);
        assertThat(fault.awaitAnswer(LIMIT)).isEqualTo(200);
        assertThat(written()).containsExactly("two");
        proxy.on("HEAD", "k").answerInstead(503, "SlowDown");
        assertThat(S3Clients.status(
                        () -> client.headObject(head -> head.bucket(bucket).key("k"))))
                .isEqualTo(503);
    }

    @Test
    void aFaultMeetsTheRequestThatWasChosenAndNoOther() {
        S3FaultProxy.Armed second = proxy.on("PUT", "k").nth(2).answerInstead(500, "InternalError");
        put("first");
        assertThat(second.fired()).isFalse();
        assertThat(S3Clients.status(() -> put("second"))).isEqualTo(500);
        put("third");
        S3FaultProxy.Armed each = proxy.on("reads", request -> request.method().equals("GET"))
                .each()
                .answerInstead(503, "SlowDown");
        for (int i = 0; i < 3; i++) {
            assertThat(S3Clients.status(() -> S3Clients.read(client, bucket, "k")))
                    .isEqualTo(503);
        }
        each.letGo();
        assertThat(S3Clients.read(client, bucket, "k")).isEqualTo("third");
        assertThat(written()).containsExactly("first", "third");
    }

    @Test
    void healingForgetsFaultsThatHaveNotHappened() {
        S3FaultProxy.Armed fault = proxy.on("PUT", "k").dropRequest(FaultProxy.Cut.RST);
        proxy.heal();
        put("whole");
        assertThat(fault.fired()).isFalse();
        assertThatIllegalStateException()
                .isThrownBy(() -> fault.awaitFired(Duration.ofMillis(1)))
                .withMessage("The fault on PUT of 'k' did not happen within 1 ms: 0 such requests came.");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> proxy.on("PUT", "k").nth(0))
                .withMessage("The request number 0 of PUT of 'k'; the first is 1.");
    }

    @Test
    void aClosedProxyEndsItsConnectionsAndListensNoMore() throws IOException {
        try (Socket idle = connect()) {
            proxy.close();
            proxy.close();
            assertThat(idle.getInputStream().read()).isEqualTo(-1);
            assertThatThrownBy(() -> connect().close()).isInstanceOf(ConnectException.class);
        }
    }

    private Socket connect() throws IOException {
        return new Socket(InetAddress.getLoopbackAddress(), proxy.endpoint().getPort());
    }
}
