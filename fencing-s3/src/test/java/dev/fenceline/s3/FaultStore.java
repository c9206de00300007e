package dev.fenceline.s3;

import dev.fenceline.testkit.AtomicS3;
import dev.fenceline.testkit.S3FaultProxy;
import dev.fenceline.testkit.S3History;
import java.net.URI;
import java.time.Duration;
import java.util.List;
import software.amazon.awssdk.auth.credentials.AwsBasicCredentials;
import software.amazon.awssdk.auth.credentials.StaticCredentialsProvider;
import software.amazon.awssdk.core.sync.RequestBody;
import software.amazon.awssdk.http.apache5.Apache5HttpClient;
import software.amazon.awssdk.regions.Region;
import software.amazon.awssdk.retries.DefaultRetryStrategy;
import software.amazon.awssdk.retries.api.RetryStrategy;
import software.amazon.awssdk.services.s3.S3Client;

/** A store with two ways to it: straight, and through a proxy that fails. */
final class FaultStore implements AutoCloseable {

    /** The least that S3 takes. */
    static final int PART = 5 * 1024 * 1024;

    private static final S3ProbeReport SAFE = TestStore.probed();

    private final AtomicS3 server;
    private final String bucket;
    private final S3FaultProxy proxy;
    private final S3Client near;
    private final S3Client far;
    private final S3Client farOnce;
    private final Duration patience;

    /** The patience is that of the client behind the proxy. */
    FaultStore(AtomicS3 server, Duration patience) {
        this.server = server;
        this.bucket = server.newBucket();
        this.proxy = S3FaultProxy.to(server);
        this.near = client(server.endpoint(), Duration.ofSeconds(30));
        this.far = client(proxy.endpoint(), patience);
        this.farOnce = client(proxy.endpoint(), patience, DefaultRetryStrategy.doNotRetry());
        this.patience = patience;
    }

    private S3Client client(URI endpoint, Duration socketTimeout) {
        return client(
                endpoint,
                socketTimeout,
                DefaultRetryStrategy.standardStrategyBuilder().build());
    }

    private S3Client client(URI endpoint, Duration socketTimeout, RetryStrategy retries) {
        return S3Client.builder()
                .endpointOverride(endpoint)
                .region(Region.of(server.region()))
                .forcePathStyle(true)
                .overrideConfiguration(o -> o.retryStrategy(retries))
                .credentialsProvider(StaticCredentialsProvider.create(
                        AwsBasicCredentials.create(server.accessKey(), server.secretKey())))
                .httpClientBuilder(
                        Apache5HttpClient.builder().maxConnections(200).socketTimeout(socketTimeout))
                .build();
    }

    /** The first requests of a JVM take their time; here nothing limits it. */
    void warmUp() {
        for (S3Client client : List.of(near, far)) {
            client.putObject(put -> put.bucket(bucket).key("warm-up"), RequestBody.fromString("warm"));
            client.getObjectAsBytes(get -> get.bucket(bucket).key("warm-up"));
        }
    }

    S3FaultProxy proxy() {
        return proxy;
    }

    S3History watch(String key) {
        return server.watch(bucket, key);
    }

    ObjectFence<?> near(S3Format format) {
        return format == S3Format.ENVELOPE
                ? S3Fence.envelope().probed(SAFE).on(near, bucket)
                : S3Fence.pointer().probed(SAFE).on(near, bucket);
    }

    ObjectFence<?> behindTheProxy(S3Format format) {
        return format == S3Format.ENVELOPE
                ? S3Fence.envelope().probed(SAFE).requestTimeout(patience).on(far, bucket)
                : S3Fence.pointer().probed(SAFE).requestTimeout(patience).on(far, bucket);
    }

    /** Its client sends nothing again by itself, or a part that never comes through would be waited for nine times. */
    PointerFence inPartsBehindTheProxy() {
        return S3Fence.pointer()
                .probed(SAFE)
                .requestTimeout(patience)
                .partSize(PART)
                .on(farOnce, bucket);
    }

    @Override
    public void close() {
        farOnce.close();
        near.close();
        far.close();
        proxy.close();
    }
}
