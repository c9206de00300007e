package dev.fenceline.s3;

import dev.fenceline.testkit.AtomicS3;
import dev.fenceline.testkit.S3FaultProxy;
import dev.fenceline.testkit.SharedServers;
import java.util.function.Consumer;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.TestInstance.Lifecycle;
import software.amazon.awssdk.services.s3.S3Client;
import software.amazon.awssdk.services.s3.S3ClientBuilder;

/** For tests that reach a bucket of their own only by way of a proxy, which does no harm when a test begins. */
@TestInstance(Lifecycle.PER_CLASS)
abstract class ThroughProxy {

    private final Consumer<S3ClientBuilder> howClient;

    S3FaultProxy proxy;
    S3Client client;
    TestStore store;

    ThroughProxy(Consumer<S3ClientBuilder> howClient) {
        this.howClient = howClient;
    }

    @BeforeAll
    void open() {
        AtomicS3 server = SharedServers.s3();
        proxy = S3FaultProxy.to(server);
        client = TestStore.client(server, proxy.endpoint(), howClient);
        store = TestStore.fresh().by(client);
    }

    @AfterAll
    void close() {
        client.close();
        proxy.close();
    }

    @AfterEach
    void heal() {
        proxy.heal();
    }
}
