package dev.fenceline.testkit;

import java.net.URI;
import java.util.Properties;
import java.util.concurrent.atomic.AtomicInteger;
import org.gaul.s3proxy.BlobStores;
import org.gaul.s3proxy.S3Proxy;
import org.gaul.s3proxy.auth.AuthenticationType;
import org.gaul.s3proxy.blobstore.BlobStore;

/** S3Proxy over objects in memory, on the loopback address. */
class S3ProxyServer implements S3Server {

    private final BlobStore store;
    private final S3Proxy server;
    private final URI endpoint;
    private final AtomicInteger buckets = new AtomicInteger();
    private boolean closed;

    private S3ProxyServer(BlobStore store) {
        this.store = store;
        this.server = S3Proxy.builder()
                .blobStore(store)
                .awsAuthentication(AuthenticationType.AWS_V4, accessKey(), secretKey())
                .endpoint(URI.create("http://" + LocalRedis.HOST + ":0"))
                // What a test leaves unanswered is not waited for.
                .stopTimeout(0)
                .build();
        this.endpoint = start();
    }

    static S3Server racing() {
        return S3Stores.from("org.gaul:s3proxy", () -> new S3ProxyServer(inMemory()));
    }

    static AtomicS3 atomic() {
        return S3Stores.from("org.gaul:s3proxy", () -> new Atomic(new AtomicBlobStore(inMemory())));
    }

    private static BlobStore inMemory() {
        return BlobStores.create("transient", new Properties());
    }

    private URI start() {
        try {
            server.start();
        } catch (Exception e) {
            close();
            throw new IllegalStateException("S3Proxy did not start: " + e.getMessage() + ".", e);
        }
        return URI.create("http://" + LocalRedis.HOST + ":" + server.getPort());
    }

    @Override
    public URI endpoint() {
        return endpoint;
    }

    @Override
    public String newBucket() {
        String name = "bucket-" + buckets.incrementAndGet();
        store.createContainer(name);
        return name;
    }

    @Override
    public synchronized void close() {
        if (closed) {
            return;
        }
        closed = true;
        try {
            server.stop();
        } catch (Exception e) {
            throw new IllegalStateException(this + " was not stopped: " + e.getMessage() + ".", e);
        } finally {
            store.close();
        }
    }

    @Override
    public String toString() {
        return "S3Proxy at " + endpoint;
    }

    private static final class Atomic extends S3ProxyServer implements AtomicS3 {

        private final AtomicBlobStore store;

        private Atomic(AtomicBlobStore store) {
            super(store);
            this.store = store;
        }

        @Override
        public S3History watch(String bucket, String key) {
            return store.watch(bucket, key);
        }
    }
}
