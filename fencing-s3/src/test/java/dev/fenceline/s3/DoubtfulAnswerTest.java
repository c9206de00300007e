package dev.fenceline.s3;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assertions.assertTimeoutPreemptively;

import com.sun.net.httpserver.HttpServer;
import dev.fenceline.BackendMisconfiguredException;
import dev.fenceline.BackendUnavailableException;
import dev.fenceline.OutcomeUnknownException;
import dev.fenceline.testkit.S3FaultProxy;
import dev.fenceline.testkit.SharedServers;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import software.amazon.awssdk.core.interceptor.Context;
import software.amazon.awssdk.core.interceptor.ExecutionAttributes;
import software.amazon.awssdk.core.interceptor.ExecutionInterceptor;
import software.amazon.awssdk.core.sync.RequestBody;
import software.amazon.awssdk.services.s3.S3Client;
import software.amazon.awssdk.services.s3.model.PutObjectRequest;
import software.amazon.awssdk.services.s3.model.PutObjectResponse;
import software.amazon.awssdk.services.s3.model.S3Exception;

/** Answers to a write that sound as if it had not been done, and do not say so. */
@Tag("server")
class DoubtfulAnswerTest extends ThroughProxy {

    private static final Duration REQUEST = Duration.ofSeconds(1);

    String key;
    EnvelopeFence fence;
    EnvelopeClaim claim;

    DoubtfulAnswerTest() {
        super(builder -> {});
    }

    @BeforeEach
    void claim() {
        key = TestStore.freshKey();
        fence = store.envelope();
        claim = fence.claim(TestStore.token(key), key);
        claim.write(S3Body.of("before"));
    }

    private String direct() {
        try (S3Client past = TestStore.client(SharedServers.s3())) {
            return store.by(past).envelope().read(key).orElseThrow().text();
        }
    }

    /** Something on the way has sent it twice, and handed on the second answer. */
    @Test
    void aRefusalOfTheConditionIsNoProofWhereTheLookIsForbidden() {
        proxy.on("PUT", key).answerAfterwards(412, "PreconditionFailed");
        proxy.on("GET", key).each().answerInstead(403, "AccessDenied");
        assertThatThrownBy(() -> claim.write(S3Body.of("after")))
                .isInstanceOf(OutcomeUnknownException.class)
                .hasMessageContaining("a look at the object failed: 403 AccessDenied");
        assertThat(direct()).isEqualTo("after");
    }

    @Test
    void aRefusalOfTheConditionIsNoProofWhereTheObjectWasRemovedSince() {
        proxy.on("PUT", key).answerAfterwards(412, "PreconditionFailed");
        S3FaultProxy.Armed look = proxy.on("GET", key).holdRequest();
        Thread remover = new Thread(() -> {
            look.awaitFired(Duration.ofSeconds(30));
            client.deleteObject(delete -> delete.bucket(store.bucket).key(key));
            look.letGo();
        });
        remover.start();
        assertThatThrownBy(() -> claim.write(S3Body.of("after")))
                .isInstanceOf(OutcomeUnknownException.class)
                .hasMessageContaining("the object was removed since");
    }

    /** An interceptor of the user's own, a closed pool: what the client throws need not be of the SDK. */
    @Test
    void whatTheUsersClientThrowsAfterAWriteIsNoVerdict() {
        AtomicInteger failing = new AtomicInteger();
        ExecutionInterceptor broken = new ExecutionInterceptor() {
            @Override
            public void afterExecution(Context.AfterExecution context, ExecutionAttributes attributes) {
                if (context.request() instanceof PutObjectRequest && failing.getAndDecrement() > 0) {
                    throw new IllegalStateException("a counter is broken");
                }
            }
        };
        try (S3Client counting = TestStore.client(
                SharedServers.s3(),
                SharedServers.s3().endpoint(),
                builder -> builder.overrideConfiguration(o -> o.addExecutionInterceptor(broken)))) {
            EnvelopeClaim session = store.by(counting).envelope().resume(claim.token(), key);
            failing.set(1);
            session.write(S3Body.of("after"));
            assertThat(direct()).isEqualTo("after");
            failing.set(1);
            EnvelopeClaim newer = store.by(counting).envelope().claim(TestStore.token(key), key);
            newer.write(S3Body.of("newer"));
            assertThat(direct()).isEqualTo("newer");
        }
    }

    @Test
    void aClientThatWasClosedIsToldAsABackendThatCannotBeUsed() {
        S3Client closed = TestStore.client(SharedServers.s3());
        EnvelopeFence other = store.by(closed).envelope();
        closed.close();
        assertThatThrownBy(() -> other.read(key))
                .isInstanceOf(BackendMisconfiguredException.class)
                .hasMessage("Read on " + store.resource(key)
                        + " refused: the S3Client was closed; make a new one. Nothing of it happened.");
    }

    /** The answer has begun in time, and its rest never comes. */
    @Test
    void anAnswerThatStopsInItsMiddleEndsWithTheRequestTimeout() throws Exception {
        CountDownLatch over = new CountDownLatch(1);
        HttpServer stalling = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        ExecutorService threads = Executors.newCachedThreadPool();
        stalling.setExecutor(threads);
        stalling.createContext("/", exchange -> {
            exchange.sendResponseHeaders(200, 1_000);
            exchange.getResponseBody().write(new byte[10]);
            exchange.getResponseBody().flush();
            await(over);
            exchange.close();
        });
        stalling.start();
        URI endpoint = URI.create("http://127.0.0.1:" + stalling.getAddress().getPort());
        try (S3Client slow = TestStore.client(SharedServers.s3(), endpoint, builder -> {})) {
            EnvelopeFence other = store.by(slow).envelope(REQUEST);
            // Three tries of a second each; the client's own limit is ten times as long.
            assertTimeoutPreemptively(
                    Duration.ofSeconds(25),
                    () -> assertThatThrownBy(() -> other.read(key)).isInstanceOf(BackendUnavailableException.class));
        } finally {
            over.countDown();
            stalling.stop(0);
            threads.shutdownNow();
        }
    }

    private static void await(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    @Test
    void theLastAnswerOfSeveralAttemptsSaysNothingOfTheEarlierOnes() {
        for (int status : new int[] {403, 404, 409, 412}) {
            assertThat(answer(() -> failure(status, 2))).as("%d", status).isInstanceOf(Answer.Unclear.class);
        }
        assertThat(answer(() -> failure(409, 1))).isInstanceOf(Answer.Conflict.class);
        assertThat(answer(() -> failure(412, 1))).isInstanceOf(Answer.Refused.class);
    }

    private static S3Exception failure(int status, int attempts) {
        return (S3Exception) S3Exception.builder()
                .statusCode(status)
                .numAttempts(attempts)
                .message("told by the test")
                .build();
    }

    private static Answer answer(Supplier<RuntimeException> failure) {
        S3Client failing = new S3Client() {
            @Override
            public PutObjectResponse putObject(PutObjectRequest request, RequestBody body) {
                throw failure.get();
            }

            @Override
            public String serviceName() {
                return SERVICE_NAME;
            }

            @Override
            public void close() {}
        };
        try (Effort effort = Effort.of(REQUEST, REQUEST)) {
            return new Store(failing, "bucket", EtagForm.AS_RECEIVED, S3Encryption.none())
                    .put(
                            "key",
                            Formats.ENVELOPE,
                            S3Probe.document("body"),
                            new Condition(Optional.of("\"etag\"")),
                            effort);
        }
    }

    /** The look succeeds, so the message blames what did fail. */
    @Test
    void anUnknownOutcomeNamesTheStepThatFailed() {
        proxy.on("PUT", key).each().answerInstead(503, "SlowDown");
        assertThatThrownBy(() -> claim.write(S3Body.of("after")))
                .isInstanceOf(OutcomeUnknownException.class)
                .hasMessageStartingWith("Write on " + store.resource(key)
                        + " may have happened or not: the object could not be rewritten, to make sure that it does not happen"
                        + " later: 503 SlowDown. ");
    }
}
