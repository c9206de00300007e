package dev.fenceline.s3;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.fenceline.StaleTokenException;
import dev.fenceline.testkit.AtomicS3;
import dev.fenceline.testkit.S3FaultProxy;
import dev.fenceline.testkit.SharedServers;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import software.amazon.awssdk.services.s3.S3Client;
import software.amazon.awssdk.services.s3.model.S3Object;

@Tag("server")
class CleanUpTest {

    static TestStore store;

    String key;
    PointerFence fence;

    @BeforeAll
    static void create() {
        store = TestStore.fresh();
    }

    @BeforeEach
    void fence() {
        key = TestStore.freshKey();
        fence = store.pointer();
    }

    private List<String> data() {
        return store.client.listObjectsV2(list -> list.bucket(store.bucket).prefix(key + ".data/")).contents().stream()
                .map(S3Object::key)
                .toList();
    }

    @Test
    void onlyWhatAnOvertakenWriterSentAndNobodyNamesIsRemoved() {
        assertThat(fence.unreferenced(key, Duration.ZERO)).as("no pointer").isEmpty();
        PointerClaim first = fence.claim(TestStore.token(key), key);
        first.write(Map.of("a", S3Body.of("a1"), "b", S3Body.of("b1")));
        String replaced = fence.locate(key).get(0).key();
        first.change(Map.of("a", S3Body.of("a2")), java.util.Set.of());
        assertThat(fence.cleanUp(key, Duration.ZERO).removed())
                .as("its writer may still write")
                .isEmpty();

        PointerClaim second = fence.claim(TestStore.token(key), key);
        assertThatThrownBy(() -> first.write(S3Body.of("late"))).isInstanceOf(StaleTokenException.class);
        second.change(Map.of("c", S3Body.of("c1")), java.util.Set.of());
        store.put(key + ".data/of somebody else", "stays");
        assertThat(fence.unreferenced(key, Duration.ofHours(1))).as("too young").isEmpty();
        assertThat(fence.unreferenced(key, Duration.ZERO))
                .extracting(Garbage::key)
                .hasSize(2)
                .contains(replaced);

        Cleaned cleaned = fence.cleanUp(key, Duration.ZERO);
        assertThat(cleaned.removed()).hasSize(2);
        assertThat(cleaned.kept()).isEmpty();
        assertThat(data()).hasSize(4).contains(key + ".data/of somebody else");
        assertThat(fence.readAll(key)).containsOnlyKeys("a", "b", "c");
        assertThat(fence.cleanUp(key, Duration.ZERO).removed()).isEmpty();

        second.delete();
        fence.claim(TestStore.token(key), key);
        assertThat(fence.cleanUp(key, Duration.ZERO).removed()).hasSize(3);
        assertThat(store.raw(key)).as("the mark stays").isNotEmpty();
        assertThatThrownBy(() -> fence.cleanUp(key, Duration.ofMillis(-1)))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("The grace age of -1 ms is negative");
    }

    /** The age of the data is no help to them: it may be as old as it likes when it is replaced. */
    @Test
    void whoSparesLinksRemovesWhatHadBeenReplacedBeforeTheyWereMade() {
        fence.claim(TestStore.token(key), key).write(S3Body.of("1"));
        PointerClaim second = fence.claim(TestStore.token(key), key);
        second.write(S3Body.of("2"));
        List<Garbage> found = fence.unreferenced(key, Duration.ZERO);
        String linked = fence.locate(key).get(0).key();
        fence.claim(TestStore.token(key), key).write(S3Body.of("3"));
        assertThat(fence.unreferenced(key, Duration.ZERO))
                .as("a clean-up by age ends the link")
                .extracting(Garbage::key)
                .contains(linked);

        assertThat(fence.remove(found).removed()).isEqualTo(found).hasSize(1);
        assertThat(store.raw(linked)).asString(StandardCharsets.UTF_8).isEqualTo("2");
        assertThat(fence.read(key).orElseThrow().text()).isEqualTo("3");
        assertThat(fence.cleanUp(key, Duration.ZERO).removed())
                .extracting(Garbage::key)
                .containsExactly(linked);
    }

    @Test
    void uploadsThatWereNeverFinishedAreAborted() {
        PointerClaim first = fence.claim(TestStore.token(key), key);
        first.write(S3Body.of("data"));
        String unfinished = fence.locate(key).get(0).key().replaceAll("-.*", "-" + "0".repeat(32));
        store.client.createMultipartUpload(create -> create.bucket(store.bucket).key(unfinished));
        assertThat(fence.cleanUp(key, Duration.ZERO).removed()).isEmpty();
        fence.claim(TestStore.token(key), key);
        // This store tells the present as the time of an upload, which may be a second later than its Date header.
        List<Garbage> removed = List.of();
        for (int i = 0; i < 100 && removed.isEmpty(); i++) {
            removed = fence.cleanUp(key, Duration.ZERO).removed();
        }
        assertThat(removed).singleElement().satisfies(upload -> {
            assertThat(upload.key()).isEqualTo(unfinished);
            assertThat(upload.uploadId()).isPresent();
        });
        assertThat(store.client
                        .listMultipartUploads(list -> list.bucket(store.bucket))
                        .uploads())
                .isEmpty();
        assertThat(fence.read(key).orElseThrow().text()).isEqualTo("data");
    }

    @Test
    void whatTheStoreDoesNotLetGoIsToldAndKept() {
        AtomicS3 server = SharedServers.s3();
        PointerClaim first = fence.claim(TestStore.token(key), key);
        first.write(S3Body.of("1"));
        first.write(S3Body.of("2"));
        fence.claim(TestStore.token(key), key).write(S3Body.of("3"));
        try (S3FaultProxy proxy = S3FaultProxy.to(server);
                S3Client client = TestStore.client(server, proxy.endpoint(), TestStore::withoutRetries)) {
            proxy.on("first DELETE", request -> request.method().equals("DELETE"))
                    .answerInstead(403, "AccessDenied");
            Cleaned cleaned = store.by(client).pointer().cleanUp(key, Duration.ZERO);
            assertThat(cleaned.removed()).hasSize(1);
            assertThat(cleaned.kept()).hasSize(1).containsValue("403 AccessDenied");
        }
        assertThat(fence.cleanUp(key, Duration.ZERO).removed()).hasSize(1);
    }

    /** Its data is sent and the pointer to it is on its way: a newer claim kills that, and only then may the data go. */
    @Test
    void dataOfAWriterWhosePointerIsOnItsWayStaysUntilThatCannotArriveAnyMore() throws Exception {
        AtomicS3 server = SharedServers.s3();
        ExecutorService threads = Executors.newSingleThreadExecutor();
        PointerClaim claim = fence.claim(TestStore.token(key), key);
        claim.write(S3Body.of("before"));
        try (S3FaultProxy proxy = S3FaultProxy.to(server);
                S3Client client = TestStore.client(server, proxy.endpoint(), TestStore::withoutRetries)) {
            PointerClaim slow = store.by(client).pointer().resume(claim.token(), key);
            S3FaultProxy.Armed pointer = proxy.on("PUT", key).holdRequest();
            Future<?> writer = threads.submit(() -> slow.write(S3Body.of("slow")));
            pointer.awaitFired(Duration.ofSeconds(30));
            assertThat(data()).hasSize(2);
            assertThat(fence.cleanUp(key, Duration.ZERO).removed()).isEmpty();

            fence.claim(TestStore.token(key), key);
            assertThat(fence.cleanUp(key, Duration.ZERO).removed()).hasSize(1);
            pointer.letGo();
            assertThat(pointer.awaitAnswer(Duration.ofSeconds(30))).isEqualTo(412);
            assertThatThrownBy(() -> writer.get(60, TimeUnit.SECONDS)).hasCauseInstanceOf(StaleTokenException.class);
        } finally {
            threads.shutdownNow();
        }
        assertThat(fence.read(key).orElseThrow().text()).isEqualTo("before");
    }

    /** Writers overtake each other and clean up without any grace while readers read: each reader gets a whole version. */
    @Test
    void cleaningUpUnderLoadTakesNothingFromReaders() throws Exception {
        fence.claim(TestStore.token(key), key).write(versions("0"));
        AtomicBoolean done = new AtomicBoolean();
        AtomicInteger removed = new AtomicInteger();
        AtomicInteger reads = new AtomicInteger();
        ExecutorService threads = Executors.newFixedThreadPool(4);
        try {
            List<Future<?>> readers = new ArrayList<>();
            for (int i = 0; i < 2; i++) {
                readers.add(threads.submit(() -> {
                    while (!done.get()) {
                        Map<String, S3Content> all = fence.readAll(key);
                        assertThat(all).containsOnlyKeys("a", "b");
                        assertThat(all.get("a").text()).isEqualTo(all.get("b").text());
                        reads.incrementAndGet();
                    }
                    return null;
                }));
            }
            List<Future<?>> writers = new ArrayList<>();
            for (int i = 0; i < 2; i++) {
                int writer = i;
                writers.add(threads.submit(() -> {
                    for (int round = 0; round < 20; round++) {
                        try {
                            PointerClaim claim = fence.claim(TestStore.token(key), key);
                            claim.write(versions(writer + "/" + round));
                        } catch (StaleTokenException overtaken) {
                            // The other writer was faster.
                        }
                        removed.addAndGet(
                                fence.cleanUp(key, Duration.ZERO).removed().size());
                    }
                    return null;
                }));
            }
            for (Future<?> writer : writers) {
                writer.get(120, TimeUnit.SECONDS);
            }
            done.set(true);
            for (Future<?> reader : readers) {
                reader.get(60, TimeUnit.SECONDS);
            }
        } finally {
            done.set(true);
            threads.shutdownNow();
        }
        assertThat(reads.get()).isPositive();
        assertThat(removed.get()).as("there was something to remove").isGreaterThan(10);
        assertThat(fence.readAll(key)).containsOnlyKeys("a", "b");
    }

    private static Map<String, S3Body> versions(String text) {
        return Map.of("a", S3Body.of(text), "b", S3Body.of(text));
    }

    /** Whoever goes by the names alone takes what was sent after the pointer was read; the token tells that its writer is good. */
    @Test
    void goingByTheNamesAloneWouldRemoveWhatWasWrittenSinceThePointerWasRead() {
        PointerClaim writer = fence.claim(TestStore.token(key), key);
        writer.write(S3Body.of("1"));
        List<DataObject> named = fence.locate(key);
        writer.write(S3Body.of("2"));
        // Naive: whatever is there and was not named when the pointer was read.
        List<String> naive = data().stream()
                .filter(found -> named.stream().noneMatch(object -> object.key().equals(found)))
                .toList();
        assertThat(naive).containsExactly(fence.locate(key).get(0).key());
        assertThat(fence.unreferenced(key, Duration.ZERO)).isEmpty();
    }
}
