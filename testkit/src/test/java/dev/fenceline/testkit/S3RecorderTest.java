package dev.fenceline.testkit;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.BufferedInputStream;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import software.amazon.awssdk.services.s3.S3Client;

class S3RecorderTest {

    private static final Duration LIMIT = Duration.ofSeconds(30);

    /** Two observers of one store, one in it and one in front of it. */
    @Test
    @Tag("server")
    void theHistoryIsThatOfTheStore() {
        AtomicS3 store = SharedServers.s3();
        String bucket = store.newBucket();
        S3History inside = store.watch(bucket, "k");
        try (S3Recorder recorder = new S3Recorder(store.endpoint());
                S3Client client = S3Clients.of(store, recorder.endpoint(), LIMIT)) {
            S3History outside = recorder.watch(bucket, "k");
            client.putObject(S3Clients.put(bucket, "k").build(), S3Clients.body("one"));
            client.putObject(S3Clients.put(bucket, "other").build(), S3Clients.body("elsewhere"));
            assertThat(S3Clients.status(() -> client.putObject(
                            S3Clients.put(bucket, "k").ifNoneMatch("*").build(), S3Clients.body("no"))))
                    .isEqualTo(412);
            client.putObject(S3Clients.put(bucket, "k").build(), S3Clients.body("x".repeat(300_000)));
            client.deleteObject(delete -> delete.bucket(bucket).key("k"));
            client.putObject(S3Clients.put(bucket, "k").build(), S3Clients.body("two"));
            assertThat(S3Clients.read(client, bucket, "k")).isEqualTo("two");

            assertThat(outside.bodies()).hasSize(3);
            assertThat(texts(outside)).isEqualTo(texts(inside));
            assertThat(recorder.watch(bucket, "k")).isSameAs(outside);
            assertThat(texts(recorder.watch(bucket, "other")))
                    .as("before anybody watched")
                    .isEmpty();
        }
    }

    private static List<String> texts(S3History history) {
        return history.bodies().stream()
                .map(body -> new String(body, StandardCharsets.UTF_8))
                .toList();
    }

    /** Whoever asks for the history asks what happened, and not what was heard of. */
    @Test
    void aWriteWhoseClientHasGoneIsRecorded() throws Exception {
        CountDownLatch gone = new CountDownLatch(1);
        ExecutorService threads = Executors.newSingleThreadExecutor();
        try (ServerSocket store = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
                S3Recorder recorder = new S3Recorder(URI.create("http://127.0.0.1:" + store.getLocalPort()))) {
            S3History history = recorder.watch("b", "k");
            Future<?> answering = threads.submit(() -> answerOnce(store, gone));
            try (Socket client = new Socket(
                    InetAddress.getLoopbackAddress(), recorder.endpoint().getPort())) {
                client.getOutputStream()
                        .write("PUT /b/k HTTP/1.1\r\nhost: x\r\ncontent-length: 4\r\n\r\nbody"
                                .getBytes(StandardCharsets.US_ASCII));
                client.getOutputStream().flush();
            }
            gone.countDown();
            answering.get(LIMIT.toSeconds(), TimeUnit.SECONDS);
            Polling.until("the write is recorded", LIMIT, () -> texts(history).equals(List.of("body")));
        } finally {
            threads.shutdownNow();
        }
    }

    private static Void answerOnce(ServerSocket store, CountDownLatch gone) throws IOException, InterruptedException {
        try (Socket socket = store.accept()) {
            assertThat(HttpMessage.request(new BufferedInputStream(socket.getInputStream()), socket.getOutputStream()))
                    .isPresent();
            assertThat(gone.await(LIMIT.toSeconds(), TimeUnit.SECONDS)).isTrue();
            socket.getOutputStream()
                    .write("HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n".getBytes(StandardCharsets.US_ASCII));
            socket.getOutputStream().flush();
            return null;
        }
    }

    @Test
    void aBodyIsTakenOutOfItsFrames() {
        String frames =
                "4;chunk-signature=0a\r\none \r\n3\r\ntwo\r\n0;chunk-signature=0b\r\nx-amz-checksum-crc32:AA==\r\n\r\n";
        assertThat(S3Recorder.unframed(frames.getBytes(StandardCharsets.US_ASCII)))
                .asString(StandardCharsets.US_ASCII)
                .isEqualTo("one two");
    }
}
