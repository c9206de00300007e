package dev.fenceline.testkit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.File;
import java.io.IOException;
import java.lang.reflect.InvocationTargetException;
import java.net.MalformedURLException;
import java.net.URI;
import java.net.URL;
import java.net.URLClassLoader;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Predicate;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import software.amazon.awssdk.auth.credentials.AwsBasicCredentials;
import software.amazon.awssdk.auth.credentials.StaticCredentialsProvider;
import software.amazon.awssdk.regions.Region;
import software.amazon.awssdk.services.s3.S3Client;
import software.amazon.awssdk.services.s3.S3Configuration;
import software.amazon.awssdk.services.s3.presigner.S3Presigner;

/** Three stores that answer alike to one writer at a time, or nearly, and of which one can carry a fence. */
@Tag("server")
class S3StoresTest {

    private static final int WRITERS = 4;
    private static final int ROUNDS = 200;

    private static EmbeddedServers servers;

    @BeforeAll
    static void open() {
        servers = Servers.embedded();
    }

    @AfterAll
    static void close() {
        servers.close();
        assertThatIllegalStateException().isThrownBy(servers::s3).withMessageContaining("These servers are closed");
    }

    @Test
    void theAtomicStoreHasOneWinnerInEachRound() throws Exception {
        assertThat(winners(SharedServers.s3(), ROUNDS, wins -> false))
                .hasSize(ROUNDS)
                .containsOnly(1);
    }

    @Test
    void theRacingStoreIsRightInSequenceAndHasSeveralWinnersOfOneETagInARace() throws Exception {
        S3Server racing = servers.racingS3();
        assertThat(staleWrite(racing)).isEqualTo(412);
        // It ends with the first round that shows it; that none does in all of them is beyond belief.
        assertThat(winners(racing, ROUNDS, wins -> wins > 1))
                .last()
                .satisfies(wins -> assertThat(wins).isGreaterThan(1));
    }

    @Test
    void theIgnoringStoreLetsAStaleWriterWrite() {
        assertThat(staleWrite(servers.ignoringS3())).isEqualTo(200);
        assertThat(staleWrite(SharedServers.s3())).isEqualTo(412);
    }

    /** Writers of one object that all expect the ETag of the round before; the winners of each round, up to one that ends it. */
    private static List<Integer> winners(S3Server server, int rounds, Predicate<Integer> enough) throws Exception {
        List<Integer> winners = new ArrayList<>();
        ExecutorService threads = Executors.newFixedThreadPool(WRITERS);
        try (S3Client client = S3Clients.of(server)) {
            String bucket = server.newBucket();
            AtomicReference<String> newest = new AtomicReference<>(
                    client.putObject(S3Clients.put(bucket, "k").build(), S3Clients.body("first"))
                            .eTag());
            for (int round = 0; round < rounds && (round == 0 || !enough.test(winners.get(round - 1))); round++) {
                String etag = newest.get();
                CyclicBarrier start = new CyclicBarrier(WRITERS);
                List<Future<Integer>> answers = new ArrayList<>();
                for (int writer = 0; writer < WRITERS; writer++) {
                    String body = "round " + round + " writer " + writer;
                    answers.add(threads.submit(() -> {
                        start.await(20, TimeUnit.SECONDS);
                        return S3Clients.status(() -> newest.set(client.putObject(
                                        S3Clients.put(bucket, "k").ifMatch(etag).build(), S3Clients.body(body))
                                .eTag()));
                    }));
                }
                int wins = 0;
                for (Future<Integer> answer : answers) {
                    int status = answer.get(60, TimeUnit.SECONDS);
                    assertThat(status).isIn(200, 412);
                    wins += status == 200 ? 1 : 0;
                }
                winners.add(wins);
            }
        } finally {
            threads.shutdownNow();
        }
        return winners;
    }

    /** The answer to a writer that expects an ETag which somebody has replaced. */
    private static int staleWrite(S3Server server) {
        try (S3Client client = S3Clients.of(server)) {
            String bucket = server.newBucket();
            String stale = client.putObject(S3Clients.put(bucket, "k").build(), S3Clients.body("1"))
                    .eTag();
            client.putObject(S3Clients.put(bucket, "k").ifMatch(stale).build(), S3Clients.body("2"));
            return S3Clients.status(() ->
                    client.putObject(S3Clients.put(bucket, "k").ifMatch(stale).build(), S3Clients.body("3")));
        }
    }

    @Test
    void theAtomicStoreAnswersToConditionsAsS3Does() {
        try (S3Client client = S3Clients.of(SharedServers.s3())) {
            String bucket = SharedServers.s3().newBucket();
            assertThat(S3Clients.status(() -> client.putObject(
                            S3Clients.put(bucket, "k").ifMatch("\"0123\"").build(), S3Clients.body("1"))))
                    .isEqualTo(404);
            assertThat(S3Clients.status(() -> client.putObject(
                            S3Clients.put(bucket, "k").ifNoneMatch("*").build(), S3Clients.body("2"))))
                    .isEqualTo(200);
            assertThat(S3Clients.status(() -> client.putObject(
                            S3Clients.put(bucket, "k").ifNoneMatch("*").build(), S3Clients.body("3"))))
                    .isEqualTo(412);
            assertThat(S3Clients.status(() -> client.putObject(
                            S3Clients.put(bucket, "k").ifMatch("*").build(), S3Clients.body("4"))))
                    .isEqualTo(200);
            assertThat(S3Clients.read(client, bucket, "k")).isEqualTo("4");
        }
    }

    @Test
    void theHistoryHasWhatWasWrittenAndNotWhatWasRefused() {
        AtomicS3 server = SharedServers.s3();
        String bucket = server.newBucket();
        S3History history = server.watch(bucket, "k");
        try (S3Client client = S3Clients.of(server)) {
            client.putObject(S3Clients.put(bucket, "k").build(), S3Clients.body("one"));
            client.putObject(S3Clients.put(bucket, "other").build(), S3Clients.body("elsewhere"));
            S3Clients.status(() ->
                    client.putObject(S3Clients.put(bucket, "k").ifNoneMatch("*").build(), S3Clients.body("no")));
            S3Clients.status(() ->
                    client.putObject(S3Clients.put(bucket, "k").ifMatch("\"0\"").build(), S3Clients.body("no")));
            client.putObject(S3Clients.put(bucket, "k").build(), S3Clients.body("two"));
        }
        assertThat(history.bodies())
                .extracting(body -> new String(body, StandardCharsets.UTF_8))
                .containsExactly("one", "two");
        assertThat(server.watch(bucket, "k")).isSameAs(history);
    }

    @Test
    void theAtomicStoreChecksSignaturesAndPresignedOnes() throws Exception {
        AtomicS3 server = SharedServers.s3();
        String bucket = server.newBucket();
        try (S3Client client = S3Clients.of(server)) {
            client.putObject(S3Clients.put(bucket, "k").build(), S3Clients.body("for whom it is meant"));
        }
        URI plain = server.endpoint().resolve("/" + bucket + "/k");
        assertThat(get(plain).statusCode()).isEqualTo(403);
        try (S3Presigner presigner = S3Presigner.builder()
                .endpointOverride(server.endpoint())
                .region(Region.of(server.region()))
                .serviceConfiguration(
                        S3Configuration.builder().pathStyleAccessEnabled(true).build())
                .credentialsProvider(StaticCredentialsProvider.create(
                        AwsBasicCredentials.create(server.accessKey(), server.secretKey())))
                .build()) {
            URI presigned = presigner
                    .presignGetObject(p -> p.signatureDuration(Duration.ofMinutes(5))
                            .getObjectRequest(get -> get.bucket(bucket).key("k")))
                    .url()
                    .toURI();
            assertThat(get(presigned).body()).isEqualTo("for whom it is meant");
            String forged = presigned.toString().replaceFirst("X-Amz-Signature=.", "X-Amz-Signature=");
            assertThat(get(URI.create(forged)).statusCode()).isEqualTo(403);
        }
    }

    private static java.net.http.HttpResponse<String> get(URI uri) throws IOException, InterruptedException {
        return HttpClient.newHttpClient().send(HttpRequest.newBuilder(uri).build(), BodyHandlers.ofString());
    }

    @Test
    void whatIsMissingOnTheClassPathIsNamed() throws Exception {
        assertThatThrownBy(() -> startWithout("s3proxy-", "s3"))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("needs org.gaul:s3proxy on the class path of the tests")
                .hasMessageContaining("org/gaul/s3proxy");
        assertThatThrownBy(() -> startWithout("s3proxy-", "racingS3"))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("needs org.gaul:s3proxy on the class path of the tests");
        assertThatThrownBy(() -> startWithout("local-s3-rest-", "ignoringS3"))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("needs io.github.robothy:local-s3-rest on the class path of the tests")
                .hasMessageContaining("com/robothy/s3");
    }

    private static void startWithout(String jar, String store) throws Throwable {
        URL[] rest = Pattern.compile(File.pathSeparator, Pattern.LITERAL)
                .splitAsStream(System.getProperty("java.class.path"))
                .filter(entry -> !Path.of(entry).getFileName().toString().startsWith(jar))
                .map(S3StoresTest::url)
                .toArray(URL[]::new);
        try (URLClassLoader loader = new URLClassLoader(rest, ClassLoader.getPlatformClassLoader())) {
            Object embedded = loader.loadClass(Servers.class.getName())
                    .getMethod("embedded")
                    .invoke(null);
            try (AutoCloseable closing = (AutoCloseable) embedded) {
                embedded.getClass().getMethod(store).invoke(closing);
            } catch (InvocationTargetException e) {
                throw e.getCause();
            }
        }
    }

    private static URL url(String entry) {
        try {
            return Path.of(entry).toUri().toURL();
        } catch (MalformedURLException e) {
            throw new IllegalArgumentException("The class path has " + entry + ", which is no file.", e);
        }
    }
}
