package dev.fenceline.s3;

import static org.assertj.core.api.Assertions.assertThat;

import dev.fenceline.FencelineListener;
import dev.fenceline.FencingToken;
import dev.fenceline.StaleTokenException;
import dev.fenceline.testkit.AtomicS3;
import dev.fenceline.testkit.ChildJvm;
import dev.fenceline.testkit.SharedServers;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import software.amazon.awssdk.auth.credentials.AwsBasicCredentials;
import software.amazon.awssdk.auth.credentials.StaticCredentialsProvider;
import software.amazon.awssdk.core.ResponseBytes;
import software.amazon.awssdk.core.sync.RequestBody;
import software.amazon.awssdk.regions.Region;
import software.amazon.awssdk.services.s3.S3Client;
import software.amazon.awssdk.services.s3.model.GetObjectResponse;
import software.amazon.awssdk.services.s3.model.S3Exception;

/**
 * A writer that is stopped between its read and its write, while the content changes and comes back. To whoever goes by the
 * content nothing has happened; an ETag goes by the content.
 */
@Tag("server")
class PausedObjectWriterTest {

    private static final Duration LIMIT = Duration.ofSeconds(60);

    static TestStore store;

    @BeforeAll
    static void create() {
        store = TestStore.fresh();
    }

    /** A process that reads, waits for an order, and writes what it has made of that. */
    public static final class Writer {

        private Writer() {}

        public static void main(String[] args) throws Exception {
            BufferedReader orders = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
            FencingToken token = FencingToken.parse(args[6]);
            try (S3Client client = S3Client.builder()
                    .endpointOverride(URI.create(args[1]))
                    .forcePathStyle(true)
                    .region(Region.of("us-east-1"))
                    .credentialsProvider(StaticCredentialsProvider.create(AwsBasicCredentials.create(args[2], args[3])))
                    .build()) {
                if (args[0].equals("fence")) {
                    fenced(client, args[4], args[5], token, EtagForm.valueOf(args[7]), orders);
                } else {
                    naive(client, args[4], args[5], token, EtagForm.valueOf(args[7]), orders);
                }
            }
        }

        private static void fenced(
                S3Client client, String bucket, String key, FencingToken token, EtagForm etags, BufferedReader orders)
                throws Exception {
            EnvelopeClaim claim = S3Fence.envelope()
                    .listener(FencelineListener.none())
                    .probed(new S3ProbeReport("the store of the test", etags, List.of()))
                    .on(client, bucket)
                    .claim(token, key);
            String seen = claim.read().orElseThrow().text();
            System.out.println("READ " + seen);
            orders.readLine();
            try {
                claim.write(S3Body.of(seen + " and more"));
                System.out.println("WRITTEN");
            } catch (StaleTokenException e) {
                System.out.println("STALE " + e.newest().encode());
            }
        }

        /** Token in the metadata, If-Match on the ETag: the design that suggests itself. */
        private static void naive(
                S3Client client, String bucket, String key, FencingToken token, EtagForm etags, BufferedReader orders)
                throws Exception {
            ResponseBytes<GetObjectResponse> seen =
                    client.getObjectAsBytes(get -> get.bucket(bucket).key(key));
            System.out.println("READ " + seen.asUtf8String());
            orders.readLine();
            try {
                put(
                        client,
                        bucket,
                        key,
                        seen.asUtf8String() + " and more",
                        token,
                        etags.of(seen.response().eTag()));
                System.out.println("WRITTEN");
            } catch (S3Exception e) {
                System.out.println("STALE " + e.statusCode());
            }
        }
    }

    private static void put(S3Client client, String bucket, String key, String text, FencingToken token, String etag) {
        client.putObject(
                put -> put.bucket(bucket).key(key).ifMatch(etag).metadata(Map.of("token", token.encode())),
                RequestBody.fromString(text));
    }

    private static ChildJvm writer(String kind, String key, FencingToken token) {
        AtomicS3 server = SharedServers.s3();
        return ChildJvm.start(
                Writer.class,
                kind,
                server.endpoint().toString(),
                server.accessKey(),
                server.secretKey(),
                store.bucket,
                key,
                token.encode(),
                TestStore.probed().etagForm().name());
    }

    @Test
    void aWriterThatSleptThroughAChangeAndItsReturnIsRefused() {
        String key = TestStore.freshKey();
        EnvelopeFence fence = store.envelope();
        fence.claim(TestStore.token(key), key).write(S3Body.of("A"));
        FencingToken stale = TestStore.token(key);
        try (ChildJvm sleeper = writer("fence", key, stale)) {
            assertThat(sleeper.awaitLine("READ", LIMIT)).isEqualTo("READ A");
            sleeper.pause();

            EnvelopeClaim newer = fence.claim(TestStore.token(key), key);
            newer.write(S3Body.of("B"));
            newer.write(S3Body.of("A"));

            sleeper.resume();
            sleeper.send("go");
            assertThat(sleeper.awaitLine("", LIMIT))
                    .isEqualTo("STALE " + newer.token().encode());
            assertThat(fence.read(key).orElseThrow().text()).isEqualTo("A");
            newer.write(S3Body.of("C"));
        }
    }

    @Test
    void theNaiveDesignAcceptsIt() {
        String key = TestStore.freshKey();
        FencingToken stale = TestStore.token(key);
        store.put(key, "A");
        try (ChildJvm sleeper = writer("metadata", key, stale)) {
            assertThat(sleeper.awaitLine("READ", LIMIT)).isEqualTo("READ A");
            sleeper.pause();

            FencingToken newer = TestStore.token(key);
            put(
                    store.client,
                    store.bucket,
                    key,
                    "B",
                    newer,
                    TestStore.ifMatch(store.attributes(key).eTag()));
            put(
                    store.client,
                    store.bucket,
                    key,
                    "A",
                    newer,
                    TestStore.ifMatch(store.attributes(key).eTag()));

            sleeper.resume();
            sleeper.send("go");
            assertThat(sleeper.awaitLine("", LIMIT)).isEqualTo("WRITTEN");
            assertThat(new String(store.raw(key), StandardCharsets.UTF_8)).isEqualTo("A and more");
            assertThat(store.attributes(key).metadata())
                    .as("over a newer token")
                    .containsEntry("token", stale.encode());
        }
    }
}
