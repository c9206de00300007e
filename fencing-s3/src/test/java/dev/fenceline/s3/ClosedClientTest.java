package dev.fenceline.s3;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import dev.fenceline.BackendMisconfiguredException;
import dev.fenceline.FencingToken;
import dev.fenceline.OutcomeUnknownException;
import dev.fenceline.testkit.FaultProxy.Cut;
import dev.fenceline.testkit.S3FaultProxy;
import dev.fenceline.testkit.SharedServers;
import java.io.ByteArrayInputStream;
import java.io.InputStream;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import software.amazon.awssdk.core.SdkRequest;
import software.amazon.awssdk.core.interceptor.Context;
import software.amazon.awssdk.core.interceptor.ExecutionAttributes;
import software.amazon.awssdk.core.interceptor.ExecutionInterceptor;
import software.amazon.awssdk.http.SdkHttpClient;
import software.amazon.awssdk.http.apache5.Apache5HttpClient;
import software.amazon.awssdk.services.s3.S3Client;
import software.amazon.awssdk.services.s3.S3ClientBuilder;
import software.amazon.awssdk.services.s3.model.PutObjectRequest;

/** A client that was closed answers nothing any more, so whoever tries again has to make a new one. */
@Tag("server")
class ClosedClientTest {

    private static final String CLOSED = "the S3Client was closed; make a new one";

    private final S3FaultProxy proxy = S3FaultProxy.to(SharedServers.s3());
    private final TestStore store = TestStore.fresh();
    private final String key = TestStore.freshKey();
    private final FencingToken token = TestStore.token(key);

    @AfterEach
    void close() {
        proxy.close();
    }

    private S3Client client(Consumer<S3ClientBuilder> more) {
        return TestStore.client(SharedServers.s3(), proxy.endpoint(), more);
    }

    private static void isTold(ThrowingCallable step) {
        assertThatThrownBy(step)
                .isInstanceOf(BackendMisconfiguredException.class)
                .hasMessageContaining(" refused: " + CLOSED + ".");
    }

    @Test
    void everyStepSaysThatTheClientWasClosed() {
        S3Client client = client(builder -> builder.httpClientBuilder(Apache5HttpClient.builder()));
        TestStore by = store.by(client);
        String pointer = TestStore.freshKey();
        EnvelopeClaim envelopeClaim = by.envelope().claim(token, key);
        PointerClaim pointerClaim = by.pointer().claim(token, pointer);
        pointerClaim.write(S3Body.of("before"));
        List<Garbage> garbage = List.of(new Garbage(key + ".data/1", 1, Instant.EPOCH, Optional.empty()));
        client.close();
        proxy.forget();

        isTold(() -> by.envelope().read(key));
        isTold(() -> by.envelope().claim(token, key));
        isTold(() -> by.envelope().resume(token, key));
        isTold(() -> by.pointer().readAll(pointer));
        isTold(() -> by.pointer().open(pointer));
        isTold(() -> by.pointer().unreferenced(pointer, Duration.ZERO));
        isTold(() -> S3Fence.reader(client, by.bucket).mark(key));
        isTold(envelopeClaim::read);
        isTold(() -> envelopeClaim.write(S3Body.of("never sent")));
        isTold(envelopeClaim::delete);
        isTold(() -> pointerClaim.write(S3Body.of("never sent")));
        isTold(() -> pointerClaim.write(S3Body.of(new ByteArrayInputStream(new byte[9 * 1024 * 1024]))));
        isTold(pointerClaim::delete);
        isTold(() -> S3Fence.envelope().on(client, by.bucket));
        isTold(() -> S3Probe.of(client, by.bucket).run());
        Cleaned cleaned = by.pointer().remove(garbage);
        assertThat(cleaned.removed()).isEmpty();
        assertThat(cleaned.kept().values()).containsExactly(CLOSED);
        assertThat(proxy.requests()).isEmpty();
        assertThat(store.pointer().read(pointer).orElseThrow().text()).isEqualTo("before");
    }

    /** The SDK then says it in other words: that it has no timers any more. */
    @Test
    void soDoTheStepsOfAClientWhoseHttpClientIsStillOpen() {
        try (SdkHttpClient shared = Apache5HttpClient.create()) {
            S3Client client = client(builder -> builder.httpClient(shared));
            TestStore by = store.by(client);
            EnvelopeClaim claim = by.envelope().claim(token, key);
            client.close();
            isTold(() -> by.envelope().read(key));
            isTold(() -> by.envelope().claim(token, key));
            isTold(() -> claim.write(S3Body.of("never sent")));
        }
        assertThat(store.envelope().read(key)).isEmpty();
    }

    /** Who calls that one refused would do the work twice. */
    @Test
    void aWriteThatWasSentBeforeTheClientWasClosedStaysUnknownAndCannotBeResolved() {
        S3Client client = client(TestStore::withoutRetries);
        EnvelopeClaim claim = store.by(client).envelope().claim(token, key);
        S3FaultProxy.Armed held = proxy.on("PUT", key).holdAnswer();
        Thread closing = new Thread(() -> {
            held.awaitFired(Duration.ofSeconds(30));
            client.close();
            held.letGo();
        });
        closing.start();
        proxy.on("GET", key).each().dropRequest(Cut.RST);
        OutcomeUnknownException unknown =
                catchThrowableOfType(OutcomeUnknownException.class, () -> claim.write(S3Body.of("sent")));
        assertThat(unknown)
                .hasMessage(
                        "Write on " + store.resource(key) + " may have happened or not: a look at the object failed: "
                                + CLOSED + ". Read the object, and compare, before doing the work again.");
        assertThat(unknown.resolvable()).isFalse();
        proxy.heal();
        assertThat(store.envelope().read(key).orElseThrow().text()).isEqualTo("sent");
    }

    /** Its own words come from the client's, and must not be taken for those of a request that was never sent. */
    @Test
    void aWriteWhoseAnswerWasLostIsNotCalledUnsentWhateverAnInterceptorThrows() {
        ExecutionInterceptor late = new ExecutionInterceptor() {
            @Override
            public void afterExecution(Context.AfterExecution context, ExecutionAttributes attributes) {
                SdkRequest request = context.request();
                if (request instanceof PutObjectRequest put && put.ifMatch() != null) {
                    throw new IllegalStateException("Connection pool shut down");
                }
            }
        };
        S3Client client = client(builder -> builder.overrideConfiguration(o -> o.addExecutionInterceptor(late)));
        EnvelopeClaim claim = store.by(client).envelope().claim(token, key);
        claim.write(S3Body.of("sent"));
        assertThat(claim.read().orElseThrow().text()).isEqualTo("sent");
        client.close();
    }

    @Test
    void anUnknownWriteEndsItsResolutionWhenTheClientWasClosed() {
        S3Client client = client(TestStore::withoutRetries);
        EnvelopeClaim claim = store.by(client).envelope().claim(token, key);
        proxy.on("PUT", key).loseAnswer(Cut.FIN);
        proxy.on("GET", key).each().answerInstead(503, "SlowDown");
        OutcomeUnknownException open =
                catchThrowableOfType(OutcomeUnknownException.class, () -> claim.write(S3Body.of("after")));
        assertThat(open.resolvable()).isTrue();
        client.close();
        OutcomeUnknownException closed = catchThrowableOfType(OutcomeUnknownException.class, open::resolve);
        assertThat(closed.resolvable()).isFalse();
        assertThat(closed).hasMessageContaining(CLOSED);
    }

    /** Removing what a probe has written is for order alone. */
    @Test
    void aProbeThatFailsSaysWhyAndNotWhatItsCleaningMetAfterThat() {
        ExecutionInterceptor failing = new ExecutionInterceptor() {
            @Override
            public void beforeExecution(Context.BeforeExecution context, ExecutionAttributes attributes) {
                if (context.request() instanceof software.amazon.awssdk.services.s3.model.DeleteObjectRequest) {
                    throw new IllegalStateException("of the cleaning");
                }
            }
        };
        S3Client client = client(builder -> builder.overrideConfiguration(o -> o.addExecutionInterceptor(failing)));
        assertThatThrownBy(() -> S3Probe.of(client, "no-such-bucket").run())
                .isInstanceOf(BackendMisconfiguredException.class)
                .hasMessageContaining("404 NoSuchBucket");
        client.close();
    }

    @Test
    void aStreamWhoseUploadFailsKeepsTheFirstFailure() {
        S3Client client = client(TestStore::withoutRetries);
        PointerClaim claim = store.by(client)
                .with(S3Fence.pointer())
                .partSize(5 * 1024 * 1024)
                .on(client, store.bucket)
                .claim(token, key);
        InputStream closing = new InputStream() {
            private int left = 11 * 1024 * 1024;

            @Override
            public int read() {
                return left-- > 0 ? 0 : -1;
            }

            @Override
            public int read(byte[] into, int from, int length) {
                if (left <= 6 * 1024 * 1024) {
                    client.close();
                }
                int count = Math.min(length, left);
                left -= count;
                return count > 0 || length == 0 ? count : -1;
            }
        };
        isTold(() -> claim.write(S3Body.of(closing)));
    }
}
