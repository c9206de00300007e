package dev.fenceline.testkit;

import java.net.URI;
import java.util.concurrent.atomic.AtomicInteger;
import software.amazon.awssdk.auth.credentials.AwsBasicCredentials;
import software.amazon.awssdk.auth.credentials.StaticCredentialsProvider;
import software.amazon.awssdk.regions.Region;
import software.amazon.awssdk.services.s3.S3Client;

/** Ceph's gateway for S3. A recorder stands in front of it, since it keeps no history of a key. */
final class RadosGatewayServer implements AtomicS3 {

    private final CephCluster cluster;
    private final S3Recorder recorder;
    private final S3Client client;
    private final AtomicInteger buckets = new AtomicInteger();
    private boolean closed;

    private RadosGatewayServer() {
        this.cluster = CephCluster.start(accessKey(), secretKey());
        this.recorder = new S3Recorder(cluster.endpoint());
        this.client = S3Client.builder()
                .endpointOverride(cluster.endpoint())
                .region(Region.of(region()))
                .forcePathStyle(true)
                .credentialsProvider(
                        StaticCredentialsProvider.create(AwsBasicCredentials.create(accessKey(), secretKey())))
                .build();
    }

    static AtomicS3 start() {
        return S3Stores.from("software.amazon.awssdk:s3", () -> new RadosGatewayServer());
    }

    @Override
    public URI endpoint() {
        return recorder.endpoint();
    }

    @Override
    public String newBucket() {
        String name = "bucket-" + buckets.incrementAndGet();
        client.createBucket(create -> create.bucket(name));
        return name;
    }

    @Override
    public S3History watch(String bucket, String key) {
        return recorder.watch(bucket, key);
    }

    @Override
    public synchronized void close() {
        if (!closed) {
            closed = true;
            client.close();
            recorder.close();
            cluster.close();
        }
    }

    @Override
    public String toString() {
        return "radosgw at " + cluster.endpoint();
    }
}
