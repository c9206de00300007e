package dev.fenceline.s3;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.fenceline.testkit.AtomicS3;
import dev.fenceline.testkit.S3FaultProxy;
import dev.fenceline.testkit.S3Request;
import dev.fenceline.testkit.SharedServers;
import java.io.File;
import java.io.IOException;
import java.net.URL;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import java.util.zip.GZIPInputStream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import software.amazon.awssdk.auth.credentials.AwsBasicCredentials;
import software.amazon.awssdk.auth.credentials.StaticCredentialsProvider;
import software.amazon.awssdk.core.checksums.RequestChecksumCalculation;
import software.amazon.awssdk.regions.Region;
import software.amazon.awssdk.services.s3.S3Client;
import software.amazon.awssdk.services.s3.S3Configuration;
import software.amazon.awssdk.services.s3.presigner.S3Presigner;

/** Who knows nothing of us reads the body of an envelope unchanged. */
@Tag("server")
class ForeignReadersTest {

    static TestStore store;
    static byte[] body;
    static String key;
    static String tombstone;

    @TempDir
    Path directory;

    @BeforeAll
    static void create() {
        store = TestStore.fresh();
        EnvelopeFence fence = store.envelope();
        key = TestStore.freshKey();
        tombstone = TestStore.freshKey();
        byte[] random = new byte[5_000];
        new Random(6).nextBytes(random);
        body = (new String(random, StandardCharsets.ISO_8859_1) + "a line of text\n".repeat(300))
                .getBytes(StandardCharsets.UTF_8);
        fence.claim(TestStore.token(key), key).write(S3Body.of(body).contentType("text/plain; charset=utf-8"));
        EnvelopeClaim deleted = fence.claim(TestStore.token(tombstone), tombstone);
        deleted.write(body);
        deleted.delete();
    }

    @Test
    void curl() throws Exception {
        requireProgram("curl");
        assertThat(run("curl", "-sS", "--fail", "--compressed", presigned(key))).isEqualTo(body);
        assertThat(run("curl", "-sS", "--fail", "--compressed", presigned(tombstone)))
                .isEmpty();
    }

    @Test
    void gzip() throws Exception {
        requireProgram("gzip");
        assertThat(run("gzip", "-dc", file(store.raw(key)))).isEqualTo(body);
        assertThat(run("gzip", "-dc", file(store.raw(tombstone)))).isEmpty();
    }

    @Test
    void python() throws Exception {
        requireProgram("python3");
        String program = """
                import gzip, sys, urllib.request
                answer = urllib.request.urlopen(sys.argv[1])
                assert answer.headers['Content-Encoding'] == 'gzip', answer.headers
                sys.stdout.buffer.write(gzip.decompress(answer.read()))
                """;
        assertThat(run("python3", "-c", program, presigned(key))).isEqualTo(body);
        assertThat(run("python3", "-c", program, presigned(tombstone))).isEmpty();
    }

    @Test
    void theSdkWithAGzipInputStream() throws Exception {
        for (S3Client client : List.of(store.client, TestStore.client(SharedServers.s3()))) {
            try (GZIPInputStream in = new GZIPInputStream(
                    client.getObject(get -> get.bucket(store.bucket).key(key)))) {
                assertThat(in.readAllBytes()).isEqualTo(body);
            }
        }
    }

    /** What somebody sees of a deleted object who does not look into it: no bytes, and a word in the metadata. */
    @Test
    void aTombstoneIsAnEmptyBodyThatSaysSoInItsMetadata() {
        assertThat(store.attributes(tombstone).metadata()).containsEntry("fenceline", "envelope-none");
        assertThat(store.attributes(key).metadata()).containsEntry("fenceline", "envelope");
    }

    /**
     * The SDK frames a body to append its checksum or signature, and says so in the Content-Encoding, which some stores keep; then no
     * reader unpacks it. Whatever is set on the client, an envelope goes as it is.
     */
    @Test
    @Tag("s3proxy")
    void anEnvelopeIsSentUnframedWhateverTheClientIsSetTo() {
        AtomicS3 server = SharedServers.s3();
        try (S3FaultProxy proxy = S3FaultProxy.to(server);
                S3Client framing = TestStore.client(
                        server,
                        proxy.endpoint(),
                        builder -> builder.requestChecksumCalculation(RequestChecksumCalculation.WHEN_SUPPORTED)
                                .serviceConfiguration(S3Configuration.builder()
                                        .chunkedEncodingEnabled(true)
                                        .build()))) {
            String other = TestStore.freshKey();
            framing.putObject(
                    put -> put.bucket(store.bucket).key(other),
                    software.amazon.awssdk.core.sync.RequestBody.fromString("framed"));
            assertThat(puts(proxy))
                    .allSatisfy(
                            put -> assertThat(put.header("content-encoding")).contains("aws-chunked"));
            proxy.forget();

            String fenced = TestStore.freshKey();
            store.by(framing).envelope().claim(TestStore.token(fenced), fenced).write(body);
            assertThat(puts(proxy)).hasSize(2).allSatisfy(put -> {
                assertThat(put.header("content-encoding")).contains("gzip");
                assertThat(put.header("x-amz-trailer")).isEmpty();
                assertThat(put.header("x-amz-decoded-content-length")).isEmpty();
                assertThat(put.header("content-md5")).isPresent();
            });
            assertThat(store.attributes(fenced).contentEncoding()).isEqualTo("gzip");
        }
    }

    private static List<S3Request> puts(S3FaultProxy proxy) {
        return proxy.requests().stream()
                .filter(request -> request.method().equals("PUT"))
                .toList();
    }

    private static String presigned(String key) {
        AtomicS3 server = SharedServers.s3();
        try (S3Presigner presigner = S3Presigner.builder()
                .endpointOverride(server.endpoint())
                .serviceConfiguration(
                        S3Configuration.builder().pathStyleAccessEnabled(true).build())
                .region(Region.of(server.region()))
                .credentialsProvider(StaticCredentialsProvider.create(
                        AwsBasicCredentials.create(server.accessKey(), server.secretKey())))
                .build()) {
            URL url = presigner
                    .presignGetObject(presign -> presign.signatureDuration(Duration.ofMinutes(10))
                            .getObjectRequest(get -> get.bucket(store.bucket).key(key)))
                    .url();
            return url.toString();
        }
    }

    private static void requireProgram(String name) {
        assumeTrue(
                Stream.of(System.getenv("PATH").split(File.pathSeparator))
                        .anyMatch(path -> Files.isExecutable(Path.of(path, name))),
                name + " is not installed here");
    }

    private String file(byte[] bytes) throws IOException {
        return Files.write(Files.createTempFile(directory, "object", ".gz"), bytes)
                .toString();
    }

    private byte[] run(String... command) throws Exception {
        Path errors = Files.createTempFile(directory, "errors", ".txt");
        Process process =
                new ProcessBuilder(command).redirectError(errors.toFile()).start();
        byte[] output = process.getInputStream().readAllBytes();
        assertThat(process.waitFor(60, TimeUnit.SECONDS)).isTrue();
        assertThat(process.exitValue()).as(Files.readString(errors)).isZero();
        return output;
    }
}
