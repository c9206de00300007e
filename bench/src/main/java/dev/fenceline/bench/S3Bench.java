package dev.fenceline.bench;

import dev.fenceline.FencelineListener;
import dev.fenceline.FencingToken;
import dev.fenceline.LockName;
import dev.fenceline.StaleTokenException;
import dev.fenceline.s3.ObjectClaim;
import dev.fenceline.s3.ObjectFence;
import dev.fenceline.s3.PointerFence;
import dev.fenceline.s3.S3Fence;
import dev.fenceline.s3.S3Setup;
import dev.fenceline.testkit.AtomicS3;
import java.net.URI;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.Random;
import java.util.UUID;
import software.amazon.awssdk.auth.credentials.AwsBasicCredentials;
import software.amazon.awssdk.auth.credentials.StaticCredentialsProvider;
import software.amazon.awssdk.core.sync.RequestBody;
import software.amazon.awssdk.regions.Region;
import software.amazon.awssdk.services.s3.S3Client;

/** One bucket and one size of bodies, with everything that is measured on it. One thread at a time. */
final class S3Bench implements AutoCloseable {

    private static final LockName LOCK = LockName.of("bench-s3");

    private final S3Client client;
    private final String bucket;
    private final ObjectFence<?> fence;
    private final byte[] body;
    private final Random random = new Random(7);
    private long lastToken;
    private ObjectClaim writing;
    private String etag;

    S3Bench(AtomicS3 store, URI endpoint, S3Setup<?> setup, int bytes) {
        this.client = S3Client.builder()
                .endpointOverride(endpoint)
                .region(Region.of(store.region()))
                .forcePathStyle(true)
                .credentialsProvider(StaticCredentialsProvider.create(
                        AwsBasicCredentials.create(store.accessKey(), store.secretKey())))
                .build();
        this.bucket = store.newBucket();
        this.fence = setup.on(client, bucket);
        this.body = new byte[bytes];
        this.writing = fence.claim(token(), "written");
        put();
        this.etag = client.putObject(put -> put.bucket(bucket).key("conditional"), RequestBody.fromBytes(body))
                .eTag();
        write();
    }

    /** The setup of the format that takes bodies of this size. */
    static S3Setup<?> setup(boolean inOneObject) {
        FencelineListener none = FencelineListener.none(); // a log of refusals is no part of them
        return inOneObject
                ? S3Fence.envelope().listener(none)
                : S3Fence.pointer().listener(none);
    }

    /** Does it once. What it takes to be able to do it does not count. */
    long nanos(S3Form form) {
        random.nextBytes(body);
        return switch (form) {
            case PUT -> timed(this::put);
            case CONDITIONAL -> timed(this::putIfMatch);
            case WRITE -> timed(this::write);
            case CLAIM -> timed(() -> fence.claim(token(), "claimed"));
            case STALE -> stale();
            case GET ->
                timed(() -> client.getObjectAsBytes(get -> get.bucket(bucket).key("plain")));
            case READ -> timed(() -> fence.read("written"));
        };
    }

    /** Removes the data of earlier writes, which lies in the memory of this JVM: all but the newest, under a newer claim. */
    void tidy() {
        if (fence instanceof PointerFence pointers) {
            writing = fence.claim(token(), "written");
            pointers.cleanUp("written", Duration.ZERO);
        }
    }

    private static long timed(Runnable step) {
        long start = System.nanoTime();
        step.run();
        return System.nanoTime() - start;
    }

    private void put() {
        client.putObject(put -> put.bucket(bucket).key("plain"), RequestBody.fromBytes(body));
    }

    private void putIfMatch() {
        etag = client.putObject(put -> put.bucket(bucket).key("conditional").ifMatch(etag), RequestBody.fromBytes(body))
                .eTag();
    }

    private void write() {
        writing.write(body);
    }

    private long stale() {
        ObjectClaim stale = fence.claim(token(), "stale");
        fence.claim(token(), "stale");
        return timed(() -> {
            try {
                stale.write(body);
            } catch (StaleTokenException e) {
                return;
            }
            throw new IllegalStateException("A stale write was accepted.");
        });
    }

    private FencingToken token() {
        lastToken = Math.max(lastToken + 1, ChronoUnit.MICROS.between(Instant.EPOCH, Instant.now()));
        return new FencingToken(LOCK, lastToken, UUID.randomUUID());
    }

    @Override
    public void close() {
        client.close();
    }
}
