package dev.fenceline.s3;

import dev.fenceline.FencelineEvent;
import dev.fenceline.FencelineListener;
import dev.fenceline.FencingToken;
import dev.fenceline.LockName;
import dev.fenceline.testkit.S3Server;
import dev.fenceline.testkit.SharedServers;
import java.net.URI;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import software.amazon.awssdk.auth.credentials.AwsBasicCredentials;
import software.amazon.awssdk.auth.credentials.StaticCredentialsProvider;
import software.amazon.awssdk.core.sync.RequestBody;
import software.amazon.awssdk.regions.Region;
import software.amazon.awssdk.retries.DefaultRetryStrategy;
import software.amazon.awssdk.services.s3.S3Client;
import software.amazon.awssdk.services.s3.S3ClientBuilder;
import software.amazon.awssdk.services.s3.model.GetObjectResponse;

/** A bucket of a real store, for one test class. */
final class TestStore {

    private static final AtomicLong NAMES = new AtomicLong();
    private static final AtomicLong LAST = new AtomicLong();

    final S3Client client;
    final String bucket;
    final List<FencelineEvent> events = new CopyOnWriteArrayList<>();
    private final S3ProbeReport probed;

    private TestStore(S3Client client, String bucket, S3ProbeReport probed) {
        this.client = client;
        this.bucket = bucket;
        this.probed = probed;
    }

    private static final class Shared {
        static final S3Client CLIENT = client(SharedServers.s3());
        static final S3ProbeReport PROBED =
                S3Probe.of(CLIENT, SharedServers.s3().newBucket()).run();
    }

    /** What the shared store is like. */
    static S3ProbeReport probed() {
        return Shared.PROBED;
    }

    /** The ETag as the shared store wants it in a condition. */
    static String ifMatch(String etag) {
        return Shared.PROBED.etagForm().of(etag);
    }

    /** An empty bucket of the shared store, and its client. */
    static TestStore fresh() {
        return new TestStore(Shared.CLIENT, SharedServers.s3().newBucket(), Shared.PROBED);
    }

    /** The same bucket by another client, or by way of a proxy. */
    TestStore by(S3Client other) {
        return new TestStore(other, bucket, probed);
    }

    static S3Client client(S3Server server) {
        return client(server, server.endpoint(), builder -> {});
    }

    static S3Client client(S3Server server, URI endpoint, Consumer<S3ClientBuilder> more) {
        S3ClientBuilder builder = S3Client.builder()
                .endpointOverride(endpoint)
                .forcePathStyle(true)
                .region(Region.of(server.region()))
                .credentialsProvider(StaticCredentialsProvider.create(
                        AwsBasicCredentials.create(server.accessKey(), server.secretKey())));
        more.accept(builder);
        return builder.build();
    }

    static void withoutRetries(S3ClientBuilder builder) {
        builder.overrideConfiguration(o -> o.retryStrategy(DefaultRetryStrategy.doNotRetry()));
    }

    EnvelopeFence envelope() {
        return envelope(Duration.ofSeconds(5));
    }

    EnvelopeFence envelope(Duration requestTimeout) {
        return with(S3Fence.envelope()).requestTimeout(requestTimeout).on(client, bucket);
    }

    PointerFence pointer() {
        return with(S3Fence.pointer()).on(client, bucket);
    }

    <F extends ObjectFence<?>> S3Setup<F> with(S3Setup<F> setup) {
        FencelineListener listener = events::add;
        return setup.listener(listener).probed(probed);
    }

    /** A key that no other test uses. */
    static String freshKey() {
        return "objects/" + NAMES.incrementAndGet();
    }

    static LockName lock(String key) {
        return LockName.of("object", key);
    }

    /** Newer than any before. */
    static FencingToken token(String key) {
        return new FencingToken(lock(key), now(), UUID.randomUUID());
    }

    private static long now() {
        long micros = ChronoUnit.MICROS.between(Instant.EPOCH, Instant.now());
        return LAST.updateAndGet(last -> Math.max(last + 1, micros));
    }

    /** What stands there, past the fence. */
    byte[] raw(String key) {
        return client.getObjectAsBytes(get -> get.bucket(bucket).key(key)).asByteArray();
    }

    GetObjectResponse attributes(String key) {
        return client.getObjectAsBytes(get -> get.bucket(bucket).key(key)).response();
    }

    void put(String key, String text) {
        client.putObject(put -> put.bucket(bucket).key(key), RequestBody.fromString(text));
    }

    String resource(String key) {
        return "S3 object 's3://" + bucket + "/" + key + "'";
    }
}
