package dev.fenceline.s3;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.fenceline.StaleTokenException;
import dev.fenceline.testkit.S3FaultProxy;
import dev.fenceline.testkit.S3Request;
import dev.fenceline.testkit.SharedServers;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import software.amazon.awssdk.services.s3.S3Client;

/** How many requests each operation takes, counted on their way to the store. Each is paid for, and each is a round trip. */
@Tag("server")
class S3RequestsTest {

    private static final byte[] BODY = "a body".getBytes(StandardCharsets.UTF_8);

    private final TestStore straight = TestStore.fresh();
    private final String key = TestStore.freshKey();
    private S3FaultProxy proxy;
    private S3Client client;
    private TestStore store;

    @BeforeEach
    void open() {
        proxy = S3FaultProxy.to(SharedServers.s3());
        client = TestStore.client(SharedServers.s3(), proxy.endpoint(), builder -> {});
        store = straight.by(client);
    }

    @AfterEach
    void close() {
        client.close();
        proxy.close();
    }

    /** What was sent since the last time: the key itself, or its data. */
    private List<String> sent() {
        List<String> sent = proxy.requests().stream().map(this::word).toList();
        proxy.forget();
        return sent;
    }

    private String word(S3Request request) {
        String condition = request.header("If-Match")
                .map(any -> " if it matches")
                .or(() -> request.header("If-None-Match").map(any -> " if absent"))
                .orElse("");
        return request.method() + (request.key().equals(key) ? "" : " data") + condition;
    }

    @Test
    void anEnvelopeTakesTwoForAClaimAndOneForAnythingElse() {
        EnvelopeFence fence = store.envelope();
        EnvelopeClaim first = fence.claim(TestStore.token(key), key);
        assertThat(sent()).containsExactly("GET", "PUT if absent");
        first.write(BODY);
        assertThat(sent()).containsExactly("PUT if it matches");
        first.write(BODY);
        assertThat(sent()).containsExactly("PUT if it matches");
        EnvelopeClaim second = fence.claim(TestStore.token(key), key);
        assertThat(sent()).containsExactly("GET", "PUT if it matches");
        second.read();
        assertThat(sent()).containsExactly("GET");
        second.update(content -> S3Body.of(content.orElseThrow().text() + "!"));
        assertThat(sent()).containsExactly("PUT if it matches");
        fence.read(key);
        assertThat(sent()).containsExactly("GET");
        fence.resume(second.token(), key);
        assertThat(sent()).containsExactly("GET");
        second.delete();
        assertThat(sent()).containsExactly("PUT if it matches");
    }

    @Test
    void aPointerTakesOneMoreForEachObject() {
        PointerFence fence = store.pointer();
        PointerClaim claim = fence.claim(TestStore.token(key), key);
        assertThat(sent()).containsExactly("GET", "PUT if absent");
        claim.write(BODY);
        assertThat(sent()).containsExactly("PUT data if absent", "PUT if it matches");
        claim.write(Map.of("a", S3Body.of("1"), "b", S3Body.of("2"), "c", S3Body.of("3")));
        assertThat(sent())
                .containsExactly("PUT data if absent", "PUT data if absent", "PUT data if absent", "PUT if it matches");
        claim.change(Map.of("d", S3Body.of("4")), Set.of("a", "b"));
        assertThat(sent()).containsExactly("PUT data if absent", "PUT if it matches");
        fence.readAll(key);
        assertThat(sent()).containsExactly("GET", "GET data", "GET data");
        claim.delete();
        assertThat(sent()).containsExactly("PUT if it matches");
    }

    @Test
    void aStaleWriteTakesOneMoreToLearnWhoIsNewer() {
        EnvelopeFence fence = store.envelope();
        EnvelopeClaim stale = fence.claim(TestStore.token(key), key);
        straight.envelope().claim(TestStore.token(key), key);
        sent();
        assertThatThrownBy(() -> stale.write(BODY)).isInstanceOf(StaleTokenException.class);
        assertThat(sent()).containsExactly("PUT if it matches", "GET");
        assertThatThrownBy(() -> stale.write(BODY)).isInstanceOf(StaleTokenException.class);
        assertThat(sent()).isEmpty();
    }
}
