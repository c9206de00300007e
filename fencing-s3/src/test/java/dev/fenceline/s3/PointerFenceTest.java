package dev.fenceline.s3;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.fenceline.BackendMisconfiguredException;
import dev.fenceline.BackendUnavailableException;
import dev.fenceline.StaleTokenException;
import dev.fenceline.testkit.FaultProxy.Cut;
import dev.fenceline.testkit.S3FaultProxy;
import dev.fenceline.testkit.S3Request;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.function.Predicate;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import software.amazon.awssdk.core.sync.RequestBody;

@Tag("server")
class PointerFenceTest extends ThroughProxy {

    private static final Duration LIMIT = Duration.ofSeconds(30);
    private static final int PART = 5 * 1024 * 1024;

    String key;
    PointerFence fence;
    PointerClaim claim;

    PointerFenceTest() {
        super(TestStore::withoutRetries);
    }

    @BeforeEach
    void claim() {
        key = TestStore.freshKey();
        fence = store.pointer();
        claim = fence.claim(TestStore.token(key), key);
    }

    private Predicate<S3Request> data(String method) {
        return request -> request.method().equals(method) && request.key().startsWith(key + ".data/");
    }

    /** The client refuses each request of an interrupted thread; the write goes on, as a commit of a database does. */
    @Test
    void anInterruptedThreadWritesAndReadsAndKeepsTheFlag(@TempDir Path folder) throws IOException {
        byte[] large = new byte[PART + 1];
        new Random(1).nextBytes(large);
        Path file = Files.write(folder.resolve("body"), "of a file".getBytes(StandardCharsets.UTF_8));
        fence = store.with(S3Fence.pointer()).partSize(PART).on(client, store.bucket);
        Thread.currentThread().interrupt();
        try {
            PointerClaim interrupted = fence.claim(TestStore.token(key), key);
            interrupted.write(Map.of("file", S3Body.of(file), "parts", S3Body.of(large)));
            assertThat(Thread.currentThread().isInterrupted()).isTrue();
            Map<String, S3Content> read = interrupted.readAll();
            assertThat(read.get("file").text()).isEqualTo("of a file");
            assertThat(read.get("parts").bytes()).isEqualTo(large);
            assertThat(Thread.currentThread().isInterrupted()).isTrue();
        } finally {
            assertThat(Thread.interrupted()).isTrue();
        }
    }

    @Test
    void anInterruptionWhileDataIsOnItsWayEndsNoWrite() throws InterruptedException {
        S3FaultProxy.Armed held = proxy.on("data", data("PUT")).holdAnswer();
        boolean[] flag = {false};
        Thread writer = new Thread(() -> {
            claim.write(S3Body.of("after"));
            flag[0] = Thread.currentThread().isInterrupted();
        });
        writer.start();
        held.awaitFired(LIMIT);
        writer.interrupt();
        held.letGo();
        writer.join(LIMIT.toMillis());
        assertThat(writer.isAlive()).isFalse();
        assertThat(flag[0]).isTrue();
        assertThat(fence.read(key).orElseThrow().text()).isEqualTo("after");
    }

    /** Nothing is in doubt there, and the next one goes on where it ended. */
    @Test
    void anInterruptedCleanUpEndsAndSaysSo() {
        claim.write(S3Body.of("1"));
        fence.claim(TestStore.token(key), key).write(S3Body.of("2"));
        Thread.currentThread().interrupt();
        try {
            assertThatThrownBy(() -> fence.cleanUp(key, Duration.ZERO))
                    .isInstanceOf(BackendUnavailableException.class)
                    .hasMessageStartingWith("Clean-up on " + store.resource(key) + " failed: ")
                    .hasMessageEndingWith("Nothing was removed; try again.");
        } finally {
            assertThat(Thread.interrupted()).isTrue();
        }
        assertThat(fence.cleanUp(key, Duration.ZERO).removed()).hasSize(1);
    }

    @Test
    void aWriteIsTwoRequestsAReadTwoAndAClaimTwo() {
        proxy.forget();
        claim.write(S3Body.of("data"));
        assertThat(proxy.requests()).extracting(S3Request::method).containsExactly("PUT", "PUT");
        assertThat(proxy.requests().get(0).key()).matches(key + "\\.data/[0-9]{16}-[0-9a-f]{32}");
        assertThat(proxy.requests().get(0).header("if-none-match")).contains("*");
        assertThat(proxy.requests().get(1).key()).isEqualTo(key);
        proxy.forget();
        assertThat(fence.read(key).orElseThrow().text()).isEqualTo("data");
        assertThat(proxy.requests()).extracting(S3Request::method).containsExactly("GET", "GET");
        proxy.forget();
        fence.claim(TestStore.token(key), key);
        assertThat(proxy.requests()).extracting(S3Request::method).containsExactly("GET", "PUT");
    }

    @Test
    void severalObjectsChangeTogether() {
        claim.write(Map.of("a", S3Body.of("a1").contentType("text/a"), "b", S3Body.of("b1"), "c", S3Body.of("c1")));
        assertThat(texts(fence.readAll(key))).isEqualTo(Map.of("a", "a1", "b", "b1", "c", "c1"));
        assertThat(fence.readAll(key).get("a").contentType()).contains("text/a");
        DataObject b = fence.locate(key).get(1);

        claim.change(Map.of("a", S3Body.of("a2"), "d", S3Body.of("d2")), Set.of("c", "not there"));
        assertThat(texts(claim.readAll())).isEqualTo(Map.of("a", "a2", "b", "b1", "d", "d2"));
        assertThat(fence.locate(key)).extracting(DataObject::name).containsExactly("a", "b", "d");
        assertThat(fence.locate(key)).contains(b);
        assertThatThrownBy(() -> fence.read(key))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("it has 3 objects, and which one is meant is not said; use readAll");

        claim.change(Map.of(), Set.of("a", "b", "d"));
        assertThat(fence.readAll(key)).isEmpty();
        assertThat(fence.read(key)).isEmpty();
        assertThatThrownBy(() -> claim.write(Map.of()))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("To leave nothing, use delete()");
        assertThatThrownBy(() -> claim.change(Map.of("a", S3Body.of("")), Set.of("a")))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("'a' is both put and removed");
        assertThatThrownBy(() -> claim.write(Map.of("", S3Body.of(""))))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("a name has 0 characters");
    }

    @Test
    void oneOfSeveralObjectsIsReadAsAStream() throws IOException {
        claim.write(Map.of("a", S3Body.of("a1").contentType("text/a"), "b", S3Body.of("b1")));
        try (S3Stream stream = fence.open(key, "a").orElseThrow()) {
            assertThat(stream.contentType()).contains("text/a");
            assertThat(new String(stream.readAllBytes(), StandardCharsets.UTF_8))
                    .isEqualTo("a1");
        }
        assertThat(fence.open(key, "c")).isEmpty();
        assertThatThrownBy(() -> fence.open(key))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageEndingWith("use readAll, or open with a name.");
        claim.delete();
        assertThat(fence.open(key, "a")).isEmpty();
    }

    private static Map<String, String> texts(Map<String, S3Content> contents) {
        return contents.entrySet().stream()
                .collect(java.util.stream.Collectors.toMap(
                        Map.Entry::getKey, entry -> entry.getValue().text()));
    }

    @Test
    void anOvertakenWriterChangesNothingOfSeveral() {
        claim.write(Map.of("a", S3Body.of("a1"), "b", S3Body.of("b1")));
        PointerClaim newer = fence.claim(TestStore.token(key), key);
        assertThatThrownBy(() -> claim.write(Map.of("a", S3Body.of("late"), "b", S3Body.of("late"))))
                .isInstanceOf(StaleTokenException.class);
        assertThat(texts(fence.readAll(key))).isEqualTo(Map.of("a", "a1", "b", "b1"));
        newer.delete();
        assertThatThrownBy(() -> claim.write(S3Body.of("back again"))).isInstanceOf(StaleTokenException.class);
        assertThat(fence.read(key)).isEmpty();
    }

    @Test
    void largeDataGoesInPartsAndComesBackAsAStream(@TempDir Path directory) throws IOException {
        byte[] large = new byte[2 * PART + 1_000];
        new Random(3).nextBytes(large);
        List<Long> progress = new ArrayList<>();
        PointerFence inParts = store.with(S3Fence.pointer())
                .partSize(PART)
                .progress((data, transferred) -> progress.add(transferred))
                .on(client, store.bucket);
        PointerClaim writer = inParts.resume(claim.token(), key);
        proxy.forget();
        writer.write(S3Body.of(new ByteArrayInputStream(large))
                .contentType("application/x-large")
                .metadata("a", "b"));

        assertThat(progress).containsExactly((long) PART, 2L * PART, (long) large.length);
        assertThat(proxy.requests().stream().filter(data("PUT"))).hasSize(3).allSatisfy(put -> {
            assertThat(put.header("content-encoding")).isEmpty();
            assertThat(put.header("content-md5")).isPresent();
        });
        DataObject object = inParts.locate(key).get(0);
        assertThat(object.length()).isEqualTo(large.length);
        try (S3Stream stream = inParts.open(key).orElseThrow()) {
            assertThat(stream.length()).isEqualTo(large.length);
            assertThat(stream.contentType()).contains("application/x-large");
            assertThat(stream.metadata()).containsEntry("a", "b");
            assertThat(stream.readAllBytes()).isEqualTo(large);
        }
        assertThat(client.listMultipartUploads(list -> list.bucket(store.bucket))
                        .uploads())
                .isEmpty();

        progress.clear();
        Path file = Files.write(directory.resolve("one-part"), java.util.Arrays.copyOf(large, PART));
        writer.write(S3Body.of(file));
        assertThat(progress).as("not a byte more than a part").containsExactly((long) PART);
        assertThat(inParts.read(key).orElseThrow().bytes()).isEqualTo(Files.readAllBytes(file));
    }

    @Test
    void anUploadThatFailsInTheMiddleIsAbandonedAndNothingIsWritten() {
        claim.write(S3Body.of("before"));
        PointerClaim writer = store.with(S3Fence.pointer())
                .partSize(PART)
                .on(client, store.bucket)
                .resume(claim.token(), key);
        proxy.on("second part", data("PUT").and(put -> put.query().contains("partNumber=2")))
                .each()
                .answerInstead(503, "SlowDown");
        assertThatThrownBy(() -> writer.write(new byte[2 * PART]))
                .isInstanceOf(BackendUnavailableException.class)
                .hasMessageStartingWith("Write of data on "
                        + store.resource(key).substring(0, store.resource(key).length() - 1) + ".data/")
                .hasMessageContaining("No pointer names it, so nothing was written that anybody sees");
        assertThat(client.listMultipartUploads(list -> list.bucket(store.bucket))
                        .uploads())
                .isEmpty();
        assertThat(fence.read(key).orElseThrow().text()).isEqualTo("before");
        proxy.heal();
        writer.write(S3Body.of("after"));
        assertThat(fence.read(key).orElseThrow().text()).isEqualTo("after");
    }

    @Test
    void dataWhoseAnswerIsLostIsFoundAndNotSentTwice() {
        proxy.on("PUT of data", data("PUT")).loseAnswer(Cut.FIN);
        proxy.forget();
        claim.write(S3Body.of("once"));
        assertThat(proxy.requests()).extracting(S3Request::method).containsExactly("PUT", "HEAD", "PUT");
        proxy.on("PUT of data", data("PUT")).dropRequest(Cut.RST);
        claim.write(S3Body.of("again"));
        assertThat(fence.read(key).orElseThrow().text()).isEqualTo("again");
    }

    @Test
    void anUploadInPartsWhoseEndIsNotAnsweredIsFound() {
        PointerClaim writer = store.with(S3Fence.pointer())
                .partSize(PART)
                .on(client, store.bucket)
                .resume(claim.token(), key);
        proxy.on("end of the upload", data("POST").and(post -> post.query().contains("uploadId")))
                .loseAnswer(Cut.FIN);
        byte[] large = new byte[PART + 1];
        writer.write(large);
        assertThat(fence.read(key).orElseThrow().bytes()).hasSize(large.length);
    }

    @Test
    void dataThatIsDamagedOrRemovedPastTheFenceIsNotReturned() {
        claim.write(S3Body.of("data"));
        DataObject object = fence.locate(key).get(0);
        store.put(object.key(), "atad");
        assertThatThrownBy(() -> fence.read(key))
                .isInstanceOf(BackendMisconfiguredException.class)
                .hasMessageContaining("it came twice with 4 bytes and SHA-256")
                .hasMessageContaining(object.sha256());
        client.deleteObject(delete -> delete.bucket(store.bucket).key(object.key()));
        for (org.assertj.core.api.ThrowableAssert.ThrowingCallable read :
                List.<org.assertj.core.api.ThrowableAssert.ThrowingCallable>of(
                        () -> fence.read(key), () -> claim.read())) {
            assertThatThrownBy(read)
                    .isInstanceOf(BackendMisconfiguredException.class)
                    .hasMessageContaining("the data that it names, '" + object.key() + "', is missing")
                    .hasMessageContaining("look for lifecycle rules that match '" + key + ".data/'");
        }
    }

    @Test
    void aReaderWhoseDataWasReplacedAndRemovedReadsThePointerAgain() {
        claim.write(S3Body.of("before"));
        DataObject before = fence.locate(key).get(0);
        S3FaultProxy.Armed held = proxy.on("GET", before.key()).holdRequest();
        Thread writer = new Thread(() -> {
            held.awaitFired(java.time.Duration.ofSeconds(30));
            claim.write(S3Body.of("after"));
            client.deleteObject(delete -> delete.bucket(store.bucket).key(before.key()));
            held.letGo();
        });
        writer.start();
        assertThat(fence.read(key).orElseThrow().text()).isEqualTo("after");
    }

    @Test
    void aReaderReadsBothFormatsAndTellsWhatStands() throws Exception {
        S3Reader reader = S3Fence.reader(client, store.bucket);
        assertThat(reader.read(key)).isEmpty();
        assertThat(reader.mark("nothing/here")).isEmpty();
        claim.write(S3Body.of("data"));
        assertThat(reader.read(key).orElseThrow().text()).isEqualTo("data");
        assertThat(reader.readAll(key)).containsOnlyKeys("body");
        S3Mark mark = reader.mark(key).orElseThrow();
        assertThat(mark.format()).isEqualTo(S3Format.POINTER);
        assertThat(mark.token()).isEqualTo(claim.token());
        assertThat(mark.hasData()).isTrue();
        assertThat(mark.replaced()).hasSize(1);
        byte[] sha256 =
                java.security.MessageDigest.getInstance("SHA-256").digest("data".getBytes(StandardCharsets.UTF_8));
        assertThat(mark.objects()).singleElement().satisfies(object -> {
            assertThat(object.length()).isEqualTo(4);
            assertThat(object.sha256()).isEqualTo(HexFormat.of().formatHex(sha256));
        });

        String envelope = TestStore.freshKey();
        store.envelope().claim(TestStore.token(envelope), envelope).write(S3Body.of("small"));
        assertThat(reader.read(envelope).orElseThrow().text()).isEqualTo("small");
        assertThat(reader.mark(envelope).orElseThrow().format()).isEqualTo(S3Format.ENVELOPE);

        client.putObject(put -> put.bucket(store.bucket).key("plain"), RequestBody.fromString("plain"));
        assertThatThrownBy(() -> reader.read("plain"))
                .isInstanceOf(BackendMisconfiguredException.class)
                .hasMessageContaining("it is no fenced object, neither an envelope nor a pointer");
    }

    @Test
    void encryptionIsAskedForOnEachWrite() {
        PointerFence encrypted = store.with(S3Fence.pointer())
                .encryption(S3Encryption.kms("alias/reports"))
                .on(client, store.bucket);
        PointerClaim writer = encrypted.resume(claim.token(), key);
        proxy.forget();
        // The store of the test knows no keys; what counts is what it is asked for.
        proxy.on("any PUT", put -> put.method().equals("PUT")).each().answerInstead(501, "NotImplemented");
        assertThatThrownBy(() -> writer.write(S3Body.of("secret")))
                .isInstanceOf(BackendMisconfiguredException.class)
                .hasMessageContaining("501 NotImplemented");
        assertThat(proxy.requests().get(0).header("x-amz-server-side-encryption"))
                .contains("aws:kms");
        assertThat(proxy.requests().get(0).header("x-amz-server-side-encryption-aws-kms-key-id"))
                .contains("alias/reports");
        assertThat(S3Encryption.customerKey(new byte[32]).toString()).isEqualTo("customer key");
        assertThatThrownBy(() -> S3Encryption.customerKey(new byte[16]))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("The customer key has 16 bytes; AES-256 takes 32.");
        assertThatThrownBy(() -> S3Encryption.kms(" "))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("blank");
    }

    @Test
    void settingsAreChecked() {
        assertThatThrownBy(() -> S3Fence.pointer().partSize(PART - 1))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("partSize of 5242879 bytes is not between 5242880");
        assertThatThrownBy(() -> S3Fence.pointer().requestTimeout(java.time.Duration.ofMillis(49)))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("requestTimeout of 49 ms is not between 50 ms and 300000 ms.");
    }
}
