package dev.fenceline.testkit;

import com.robothy.s3.rest.LocalS3;
import com.robothy.s3.rest.bootstrap.LocalS3Mode;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse.BodyHandlers;
import java.util.concurrent.atomic.AtomicInteger;

/** local-s3, which answers 200 to a conditional write whatever its condition. It checks no signature. */
final class LocalS3Server implements S3Server {

    private final LocalS3 server;
    private final URI endpoint;
    private final AtomicInteger buckets = new AtomicInteger();
    private boolean closed;

    private LocalS3Server() {
        server = LocalS3.builder()
                .port(FreePorts.next())
                .mode(LocalS3Mode.IN_MEMORY)
                .nettyParentEventGroupThreadNum(1)
                .nettyChildEventGroupThreadNum(2)
                .s3ExecutorThreadNum(16)
                .build();
        server.start();
        endpoint = URI.create("http://" + LocalRedis.HOST + ":" + server.getPort());
    }

    static S3Server ignoring() {
        return S3Stores.from("io.github.robothy:local-s3-rest", LocalS3Server::new);
    }

    @Override
    public URI endpoint() {
        return endpoint;
    }

    @Override
    public String newBucket() {
        String name = "bucket-" + buckets.incrementAndGet();
        HttpRequest request = HttpRequest.newBuilder(endpoint.resolve("/" + name))
                .PUT(BodyPublishers.noBody())
                .build();
        try {
            int status = HttpClient.newHttpClient()
                    .send(request, BodyHandlers.discarding())
                    .statusCode();
            if (status != 200) {
                throw new IllegalStateException(
                        this + " answered " + status + " when the bucket '" + name + "' was to be made.");
            }
        } catch (IOException e) {
            throw new IllegalStateException(this + " did not make the bucket '" + name + "'.", e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("Interrupted while " + this + " made the bucket '" + name + "'.", e);
        }
        return name;
    }

    @Override
    public synchronized void close() {
        if (!closed) {
            closed = true;
            server.shutdown();
        }
    }

    @Override
    public String toString() {
        return "local-s3 at " + endpoint;
    }
}
