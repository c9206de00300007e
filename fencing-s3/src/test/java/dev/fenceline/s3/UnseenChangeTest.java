package dev.fenceline.s3;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import dev.fenceline.BackendUnavailableException;
import dev.fenceline.OutcomeUnknownException;
import dev.fenceline.OutcomeUnknownException.Resolution;
import dev.fenceline.RetryableConflictException;
import dev.fenceline.testkit.FaultProxy.Cut;
import dev.fenceline.testkit.S3FaultProxy;
import java.io.ByteArrayInputStream;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Sessions of one claim: what one of them has not been given to see it does not replace, however it came to look. */
@Tag("server")
class UnseenChangeTest extends ThroughProxy {

    String key;

    UnseenChangeTest() {
        super(TestStore::withoutRetries);
    }

    @BeforeEach
    void key() {
        key = TestStore.freshKey();
    }

    /** The change was computed from what stood before; a look in its middle does not make it newer. */
    @Test
    void aChangeThatLooksAgainInItsMiddleIsComputedAnewWhenAnotherSessionHasWritten() {
        EnvelopeFence fence = store.envelope();
        EnvelopeClaim here = fence.claim(TestStore.token(key), key);
        here.write(S3Body.of("0"));
        EnvelopeClaim there = fence.resume(here.token(), key);
        AtomicInteger times = new AtomicInteger();
        here.update(content -> {
            if (times.incrementAndGet() == 1) {
                there.update(other -> S3Body.of(other.orElseThrow().text() + " there"));
            }
            here.read();
            return S3Body.of(content.orElseThrow().text() + " here");
        });
        assertThat(fence.read(key).orElseThrow().text()).isEqualTo("0 there here");
        assertThat(times).hasValue(2);
    }

    @Test
    void aChangeThatWritesInItsMiddleLosesNothing() {
        EnvelopeFence fence = store.envelope();
        EnvelopeClaim claim = fence.claim(TestStore.token(key), key);
        claim.write(S3Body.of("0"));
        AtomicInteger times = new AtomicInteger();
        claim.update(content -> {
            if (times.incrementAndGet() == 1) {
                claim.write(S3Body.of("0 inner"));
            }
            return S3Body.of(content.orElseThrow().text() + " outer");
        });
        assertThat(fence.read(key).orElseThrow().text()).isEqualTo("0 inner outer");
    }

    /** A body that looks at the object while it is sent is a write over what was seen before it began. */
    @Test
    void aBodyThatLooksWhileItIsSentReplacesNothingThatWasNotSeenBefore() {
        PointerFence fence = store.pointer();
        PointerClaim here = fence.claim(TestStore.token(key), key);
        here.write(S3Body.of("0"));
        PointerClaim there = fence.resume(here.token(), key);
        InputStream body = new ByteArrayInputStream("here".getBytes(StandardCharsets.UTF_8)) {
            @Override
            public synchronized int read(byte[] into, int from, int length) {
                there.write(S3Body.of("there"));
                here.read();
                return super.read(into, from, length);
            }
        };
        assertThatThrownBy(() -> here.write(S3Body.of(body))).isInstanceOf(RetryableConflictException.class);
        assertThat(fence.read(key).orElseThrow().text()).isEqualTo("there");
    }

    /** The pointer was seen and its data was not: the caller still knows only what it has read before. */
    @Test
    void aReadThatFailsIsNoneAndDoesNotMakeTheNextWriteReplaceWhatNobodyHasRead() {
        PointerFence fence = store.pointer();
        PointerClaim here = fence.claim(TestStore.token(key), key);
        here.write(S3Body.of("0"));
        String seen = here.read().orElseThrow().text();
        fence.resume(here.token(), key)
                .update(content -> S3Body.of(content.orElseThrow().text() + " there"));
        proxy.on(
                        "data",
                        request ->
                                request.method().equals("GET") && request.key().contains(".data/"))
                .answerInstead(503, "SlowDown");
        assertThatThrownBy(here::read).isInstanceOf(BackendUnavailableException.class);
        assertThatThrownBy(() -> here.write(S3Body.of(seen + " here"))).isInstanceOf(RetryableConflictException.class);
        assertThat(fence.read(key).orElseThrow().text()).isEqualTo("0 there");

        fence.resume(here.token(), key).write(java.util.Map.of("a", S3Body.of("a"), "b", S3Body.of("b")));
        assertThatThrownBy(here::read).isInstanceOf(IllegalStateException.class);
        assertThatThrownBy(() -> here.write(S3Body.of(seen + " here"))).isInstanceOf(RetryableConflictException.class);
        assertThat(fence.readAll(key)).containsOnlyKeys("a", "b");
    }

    @Test
    void afterAnUnknownWriteTheNextOneSaysThatItHasToReadFirst() {
        EnvelopeFence fence = store.envelope(Duration.ofSeconds(1));
        EnvelopeClaim claim = fence.claim(TestStore.token(key), key);
        OutcomeUnknownException unknown = unknown(claim, "after");
        assertThatThrownBy(() -> claim.write(S3Body.of("next")))
                .isInstanceOf(RetryableConflictException.class)
                .hasMessage("Write on " + store.resource(key)
                        + " refused: what became of an earlier write of this claim, token "
                        + claim.token()
                        + ", was not known, so it has not been seen what this one would replace. Nothing"
                        + " happened, and the claim is still good: read, or resolve() that write, then write.");
        assertThat(unknown.resolve()).isEqualTo(Resolution.APPLIED);
        claim.write(S3Body.of("next"));
        assertThat(fence.read(key).orElseThrow().text()).isEqualTo("next");
    }

    @Test
    void aResolutionLongAfterwardsDoesNotHoldUpTheSessionThatHasGoneOn() {
        EnvelopeFence fence = store.envelope(Duration.ofSeconds(1));
        EnvelopeClaim claim = fence.claim(TestStore.token(key), key);
        OutcomeUnknownException unknown = unknown(claim, "after");
        assertThat(claim.read().orElseThrow().text()).isEqualTo("after");
        claim.write(S3Body.of("next"));
        assertThat(unknown.resolve()).isEqualTo(Resolution.APPLIED);
        claim.write(S3Body.of("the one after"));
        assertThat(fence.read(key).orElseThrow().text()).isEqualTo("the one after");
    }

    private OutcomeUnknownException unknown(EnvelopeClaim claim, String body) {
        proxy.on("PUT", key).loseAnswer(Cut.FIN);
        S3FaultProxy.Armed looks = proxy.on("GET", key).each().answerInstead(503, "SlowDown");
        OutcomeUnknownException unknown =
                catchThrowableOfType(OutcomeUnknownException.class, () -> claim.write(S3Body.of(body)));
        looks.letGo();
        return unknown;
    }
}
