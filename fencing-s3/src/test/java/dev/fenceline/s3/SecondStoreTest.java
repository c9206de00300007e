package dev.fenceline.s3;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import dev.fenceline.Finding;
import dev.fenceline.OutcomeUnknownException;
import dev.fenceline.StaleTokenException;
import dev.fenceline.testkit.AtomicS3;
import dev.fenceline.testkit.SharedServers;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import software.amazon.awssdk.core.checksums.RequestChecksumCalculation;
import software.amazon.awssdk.core.sync.RequestBody;
import software.amazon.awssdk.services.s3.S3Client;
import software.amazon.awssdk.services.s3.model.S3Exception;

/**
 * In what radosgw is another store than the one that all tests run on. The profile {@code s3-second-store} runs those tests on it
 * too, but for the ones tagged {@code s3proxy}.
 */
@Tag("second-store")
class SecondStoreTest {

    private static final int WRITERS = 16;
    private static final int ROUNDS = 100;

    static AtomicS3 server;
    static TestStore store;

    private final String key = TestStore.freshKey();

    @BeforeAll
    static void create() {
        server = SharedServers.s3();
        assertThat(server.toString()).startsWith("radosgw");
        store = TestStore.fresh();
    }

    @Test
    void theProbeFindsItSafeAndThatItWantsTheEtagWithoutItsQuotes() {
        S3ProbeReport report = S3Probe.of(store.client, store.bucket).run();
        assertThat(report.isSafe()).isTrue();
        assertThat(report.etagForm()).isEqualTo(EtagForm.UNQUOTED);
        assertThat(report.findings()).extracting(Finding::code).containsExactly("s3-etag-unquoted");
        assertThat(store.client
                        .listObjectsV2(list -> list.bucket(store.bucket).prefix(S3Probe.PREFIX))
                        .contents())
                .isEmpty();
    }

    /** What the probe is for: with the ETag as it came no write would ever be let through. */
    @Test
    void theEtagInItsQuotesMatchesNothing() {
        store.put(key, "first");
        String etag = store.attributes(key).eTag();
        assertThat(etag).startsWith("\"");
        assertThat(status(store, etag, "second")).isEqualTo(412);
        assertThat(status(store, TestStore.ifMatch(etag), "second")).isEqualTo(200);
        assertThat(status(store, TestStore.ifMatch(etag), "third")).isEqualTo(412);
    }

    /**
     * The store by itself, without a fence: writers that all expect the same ETag, and all send at once. Those that meet in the store are
     * answered 500 and are not done; a client of the SDK would send them again, so this one does not.
     */
    @Test
    void ofWritersWithOneConditionOneSucceeds() throws Exception {
        store.put(key, "first");
        ExecutorService threads = Executors.newFixedThreadPool(WRITERS);
        try (S3Client once = TestStore.client(server, server.endpoint(), TestStore::withoutRetries)) {
            for (int round = 0; round < ROUNDS; round++) {
                Map<String, Integer> answers = race(store.by(once), threads, round);
                assertThat(answers.values()).isSubsetOf(200, 409, 412, 500);
                assertThat(answers.values()).filteredOn(status -> status == 200).hasSize(1);
                assertThat(answers).containsEntry(new String(store.raw(key), StandardCharsets.UTF_8), 200);
            }
        } finally {
            threads.shutdownNow();
        }
    }

    /** What each was answered, by what it wrote. */
    private Map<String, Integer> race(TestStore through, ExecutorService threads, int round) throws Exception {
        String etag = TestStore.ifMatch(through.attributes(key).eTag());
        CyclicBarrier together = new CyclicBarrier(WRITERS);
        Map<String, Future<Integer>> running = new HashMap<>();
        for (int i = 0; i < WRITERS; i++) {
            String body = round + "/" + i;
            running.put(body, threads.submit(() -> {
                together.await(60, TimeUnit.SECONDS);
                return status(through, etag, body);
            }));
        }
        Map<String, Integer> answers = new HashMap<>();
        for (Map.Entry<String, Future<Integer>> one : running.entrySet()) {
            answers.put(one.getKey(), one.getValue().get(60, TimeUnit.SECONDS));
        }
        return answers;
    }

    private int status(TestStore through, String etag, String body) {
        try {
            through.client.putObject(
                    put -> put.bucket(through.bucket).key(key).ifMatch(etag), RequestBody.fromString(body));
            return 200;
        } catch (S3Exception e) {
            return e.statusCode();
        }
    }

    /** The client's own defaults do not suit it: a body with a checksum behind it is refused. The fence sends its requests without. */
    @Test
    void aClientWhosePlainWritesAreRefusedCarriesAFence() {
        try (S3Client framing = TestStore.client(
                server,
                server.endpoint(),
                builder -> builder.requestChecksumCalculation(RequestChecksumCalculation.WHEN_SUPPORTED))) {
            assertThatThrownBy(() -> store.by(framing).put(key, "framed"))
                    .isInstanceOfSatisfying(
                            S3Exception.class, e -> assertThat(e.statusCode()).isEqualTo(400));
            TestStore framed = store.by(framing);
            framed.envelope().claim(TestStore.token(key), key).write(S3Body.of("in an envelope"));
            assertThat(framed.envelope().read(key).orElseThrow().text()).isEqualTo("in an envelope");
            String pointed = TestStore.freshKey();
            framed.pointer().claim(TestStore.token(pointed), pointed).write(S3Body.of("behind a pointer"));
            assertThat(framed.pointer().read(pointed).orElseThrow().text()).isEqualTo("behind a pointer");
        }
    }

    /** It answers 412 where others answer 404, and 412 alone does not tell whether the write came before the removal. */
    @Test
    void aWriteOnAnObjectThatWasRemovedPastTheFenceIsUnknownAndNotDone() {
        EnvelopeFence fence = store.envelope();
        EnvelopeClaim claim = fence.claim(TestStore.token(key), key);
        claim.write(S3Body.of("before"));
        store.client.deleteObject(delete -> delete.bucket(store.bucket).key(key));
        OutcomeUnknownException unknown =
                catchThrowableOfType(OutcomeUnknownException.class, () -> claim.write(S3Body.of("after")));
        assertThat(unknown)
                .hasMessageStartingWith("Write on " + store.resource(key) + " may have happened or not: ")
                .hasMessageContaining("the object was removed since");
        assertThat(unknown.resolvable()).isFalse();
        assertThat(fence.read(key)).isEmpty();
    }

    @Test
    void aStaleWriterIsRefusedInBothFormats() {
        for (ObjectFence<?> fence : List.of(store.envelope(), store.pointer())) {
            String one = TestStore.freshKey();
            ObjectClaim stale = fence.claim(TestStore.token(one), one);
            fence.claim(TestStore.token(one), one).write(S3Body.of("newer"));
            assertThatThrownBy(() -> stale.write(S3Body.of("older"))).isInstanceOf(StaleTokenException.class);
            assertThat(fence.read(one).orElseThrow().text()).isEqualTo("newer");
        }
    }
}
