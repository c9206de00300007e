package dev.fenceline.s3;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import dev.fenceline.BackendUnavailableException;
import dev.fenceline.FencelineEvent.ReadBack;
import dev.fenceline.FencelineEvent.WriteEnded;
import dev.fenceline.FencelineEvent.WriteOutcome;
import dev.fenceline.OutcomeUnknownException;
import dev.fenceline.OutcomeUnknownException.Resolution;
import dev.fenceline.StaleTokenException;
import dev.fenceline.testkit.FaultProxy.Cut;
import dev.fenceline.testkit.S3FaultProxy;
import dev.fenceline.testkit.S3History;
import dev.fenceline.testkit.SharedServers;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import software.amazon.awssdk.awscore.exception.AwsServiceException;
import software.amazon.awssdk.core.exception.SdkException;
import software.amazon.awssdk.core.sync.RequestBody;

/** What is said of a write whose request or answer gets lost, and whether that stays true. */
@Tag("server")
class VerdictTest extends ThroughProxy {

    private static final Duration REQUEST = Duration.ofSeconds(1);
    private static final Duration LIMIT = Duration.ofSeconds(30);

    String key;
    EnvelopeFence fence;
    EnvelopeClaim claim;
    S3History history;

    VerdictTest() {
        super(builder -> {});
    }

    @BeforeEach
    void claim() {
        key = TestStore.freshKey();
        history = SharedServers.s3().watch(store.bucket, key);
        fence = store.envelope(REQUEST);
        claim = fence.claim(TestStore.token(key), key);
        claim.write(S3Body.of("before"));
        proxy.forget();
    }

    /** How often this session's write of the body is in the object's history, which the store has written. */
    private long times(String body) {
        return times(body, claim);
    }

    private long times(String body, EnvelopeClaim session) {
        return history.bodies().stream()
                .map(bytes -> Formats.ENVELOPE.decode(bytes, Attributes.none()))
                .filter(document -> document.token().equals(session.token()))
                .filter(document -> new String(document.payload(), StandardCharsets.UTF_8).equals(body))
                .count();
    }

    private List<String> requests() {
        return proxy.requests().stream().map(request -> request.method()).toList();
    }

    @Test
    void aWriteIsOneRequestAClaimTwoAReadOneAndARefusalOneMore() {
        claim.write(S3Body.of("after"));
        assertThat(requests()).containsExactly("PUT");
        proxy.forget();
        EnvelopeClaim newer = fence.claim(TestStore.token(key), key);
        assertThat(requests()).containsExactly("GET", "PUT");
        proxy.forget();
        fence.read(key);
        assertThat(requests()).containsExactly("GET");
        proxy.forget();
        assertThatThrownBy(() -> claim.write(S3Body.of("late"))).isInstanceOf(StaleTokenException.class);
        assertThat(requests()).containsExactly("PUT", "GET");
        proxy.forget();
        assertThatThrownBy(() -> claim.write(S3Body.of("late"))).isInstanceOf(StaleTokenException.class);
        assertThat(requests()).as("a stale session is over").isEmpty();
        fence.resume(newer.token(), key);
        assertThat(requests()).containsExactly("GET");
    }

    @Test
    void aWriteWhoseAnswerIsLostIsFoundOutToBeDone() {
        for (Cut cut : Cut.values()) {
            proxy.on("PUT", key).loseAnswer(cut);
            proxy.forget();
            claim.write(S3Body.of("after " + cut));
            assertThat(requests()).as("the client's own retries are off").containsExactly("PUT", "GET");
            assertThat(times("after " + cut)).isOne();
        }
        proxy.on("PUT", key).answerAfterwards(500, "InternalError");
        claim.write(S3Body.of("after 500"));
        assertThat(times("after 500")).isOne();
        claim.write(S3Body.of("next"));
        assertThat(fence.read(key).orElseThrow().text()).isEqualTo("next");
    }

    @Test
    void aWriteThatANewerHolderReplacedBeforeWeLookedIsStillFoundOutToBeDone() {
        S3FaultProxy.Armed look = proxy.on("GET", key).holdRequest();
        S3FaultProxy.Armed write = proxy.on("PUT", key).loseAnswer(Cut.FIN);
        Thread newer = new Thread(() -> {
            look.awaitFired(LIMIT);
            TestStore direct = store.by(TestStore.client(SharedServers.s3()));
            direct.envelope().claim(TestStore.token(key), key).write(S3Body.of("newer"));
            look.letGo();
        });
        newer.start();
        claim.write(S3Body.of("after"));
        assertThat(write.fired()).isTrue();
        assertThat(times("after")).isOne();
        assertThat(fence.read(key).orElseThrow().text()).isEqualTo("newer");
        assertThatThrownBy(() -> claim.write(S3Body.of("late"))).isInstanceOf(StaleTokenException.class);
        assertThat(times("late")).isZero();
    }

    @Test
    void theListenerHearsWhatWasFoundOutAndInHowManyRounds() {
        store.events.clear();
        proxy.on("PUT", key).loseAnswer(Cut.FIN);
        proxy.on("GET", key).answerInstead(503, "SlowDown");
        claim.write(S3Body.of("after"));
        assertThat(store.events).element(0).isEqualTo(readBack(2, Optional.of(Resolution.APPLIED)));
        assertThat(store.events)
                .element(1)
                .isInstanceOfSatisfying(
                        WriteEnded.class, ended -> assertThat(ended.outcome()).isEqualTo(WriteOutcome.APPLIED));
        store.events.clear();

        proxy.on("PUT", key).dropRequest(Cut.FIN);
        S3FaultProxy.Armed looks = proxy.on("GET", key).each().answerInstead(503, "SlowDown");
        OutcomeUnknownException unknown =
                catchThrowableOfType(OutcomeUnknownException.class, () -> claim.write(S3Body.of("never")));
        looks.letGo();
        assertThat(store.events).element(0).isEqualTo(readBack(3, Optional.empty()));
        store.events.clear();
        unknown.resolve();
        assertThat(store.events).containsExactly(readBack(1, Optional.of(Resolution.NEVER_APPLIED)));
        store.events.clear();
        claim.write(S3Body.of("next"));
        assertThat(store.events).as("an answer that says it").noneMatch(ReadBack.class::isInstance);
    }

    private ReadBack readBack(int rounds, Optional<Resolution> verdict) {
        return new ReadBack(store.resource(key), claim.token(), rounds, verdict);
    }

    @Test
    void aConflictIsSentAgainAsItIs() {
        proxy.on("PUT", key).answerInstead(409, "ConditionalRequestConflict");
        claim.write(S3Body.of("after"));
        assertThat(requests()).containsExactly("PUT", "PUT");
        assertThat(times("after")).isOne();
    }

    @Test
    void aWriteThatIsHeldUpPastItsTimeoutIsRefusedForGood() {
        S3FaultProxy.Armed held = proxy.on("PUT", key).holdRequest();
        assertThatThrownBy(() -> claim.write(S3Body.of("held up")))
                .isInstanceOf(BackendUnavailableException.class)
                .hasMessageStartingWith("Write on " + store.resource(key) + " was not done: ")
                .hasMessageEndingWith(
                        ". It cannot happen later either, as the object was rewritten since. The mark is still "
                                + claim.token() + ", so the claim is good: try again under it.");
        held.letGo();
        assertThat(held.awaitAnswer(LIMIT)).isEqualTo(412);
        assertThat(times("held up")).isZero();
        assertThat(fence.read(key).orElseThrow().text()).isEqualTo("before");
        claim.write(S3Body.of("again"));
        assertThat(times("again")).isOne();
    }

    /** Who looks and finds the old state has not found out anything: the request may still be on its way. */
    @Test
    void theNaiveLookCallsAWriteRefusedThatHappensLater() {
        String plain = TestStore.freshKey();
        store.put(plain, "before");
        String etag = TestStore.ifMatch(store.attributes(plain).eTag());
        S3FaultProxy.Armed held = proxy.on("PUT", plain).holdRequest();
        assertThatThrownBy(() -> client.putObject(
                        put -> put.bucket(store.bucket)
                                .key(plain)
                                .ifMatch(etag)
                                .overrideConfiguration(Store.once(REQUEST)),
                        RequestBody.fromString("held up")))
                .isInstanceOf(SdkException.class);
        assertThat(new String(store.raw(plain), StandardCharsets.UTF_8))
                .as("so it was refused?")
                .isEqualTo("before");
        held.letGo();
        assertThat(held.awaitAnswer(LIMIT)).isEqualTo(200);
        assertThat(new String(store.raw(plain), StandardCharsets.UTF_8)).isEqualTo("held up");
    }

    /** With the client's own retries the second answer to a write that had happened is 412. */
    @Test
    void theNaiveRetryCallsAWriteRefusedThatHappened() {
        String plain = TestStore.freshKey();
        store.put(plain, "before");
        String etag = TestStore.ifMatch(store.attributes(plain).eTag());
        proxy.on("PUT", plain).loseAnswer(Cut.FIN);
        AwsServiceException refused = catchThrowableOfType(
                AwsServiceException.class,
                () -> client.putObject(
                        put -> put.bucket(store.bucket).key(plain).ifMatch(etag), RequestBody.fromString("done")));
        assertThat(refused.statusCode()).isEqualTo(412);
        assertThat(refused.numAttempts()).isEqualTo(2);
        assertThat(new String(store.raw(plain), StandardCharsets.UTF_8)).isEqualTo("done");
    }

    @Test
    void whileTheStoreDoesNotAnswerItIsUnknownAndCanBeResolvedLater() {
        S3FaultProxy.Armed write = proxy.on("PUT", key).nth(1).loseAnswer(Cut.FIN);
        S3FaultProxy.Armed looks = proxy.on("GET", key).each().answerInstead(503, "SlowDown");
        OutcomeUnknownException unknown =
                catchThrowableOfType(OutcomeUnknownException.class, () -> claim.write(S3Body.of("after")));
        assertThat(unknown)
                .hasMessageStartingWith("Write on " + store.resource(key)
                        + " may have happened or not: a look at the object failed: 503 SlowDown.")
                .hasMessageContaining("resolve() goes on asking");
        assertThat(write.fired()).isTrue();
        assertThat(requests()).as("three rounds").containsExactly("PUT", "GET", "GET", "GET");
        assertThat(unknown.resolvable()).isTrue();
        assertThatThrownBy(unknown::resolve).isInstanceOf(OutcomeUnknownException.class);
        looks.letGo();
        assertThat(unknown.resolve()).isEqualTo(Resolution.APPLIED);
        assertThat(times("after")).isOne();
        assertThat(claim.read().orElseThrow().text()).isEqualTo("after");
        claim.write(S3Body.of("next"));
    }

    /** "Forbidden" is an answer to the look, and none to the write before it. */
    @Test
    void whereTheLookIsForbiddenTheWriteIsUnknown() {
        proxy.on("PUT", key).loseAnswer(Cut.RST);
        proxy.on("GET", key).each().answerInstead(403, "AccessDenied");
        assertThatThrownBy(() -> claim.write(S3Body.of("after")))
                .isInstanceOf(OutcomeUnknownException.class)
                .hasMessageContaining("a look at the object failed: 403 AccessDenied");
        assertThat(times("after")).isOne();
    }

    @Test
    void aResolutionMakesSureThatAWriteWhichIsStillOnItsWayNeverHappens() {
        S3FaultProxy.Armed write = proxy.on("PUT", key).holdRequest();
        S3FaultProxy.Armed looks = proxy.on("GET", key).each().dropRequest(Cut.RST);
        OutcomeUnknownException unknown =
                catchThrowableOfType(OutcomeUnknownException.class, () -> claim.write(S3Body.of("held up")));
        looks.letGo();
        assertThat(unknown.resolve()).isEqualTo(Resolution.NEVER_APPLIED);
        write.letGo();
        assertThat(write.awaitAnswer(LIMIT)).isEqualTo(412);
        assertThat(times("held up")).isZero();
        assertThat(claim.read().orElseThrow().text()).isEqualTo("before");
    }

    @Test
    void whatBecameOfAWriteIsForgottenAfterEightMore() {
        S3FaultProxy.Armed write = proxy.on("PUT", key).loseAnswer(Cut.FIN);
        S3FaultProxy.Armed looks = proxy.on("GET", key).each().answerInstead(503, "SlowDown");
        OutcomeUnknownException unknown =
                catchThrowableOfType(OutcomeUnknownException.class, () -> claim.write(S3Body.of("after")));
        assertThat(write.fired()).isTrue();
        looks.letGo();
        EnvelopeClaim newer = fence.claim(TestStore.token(key), key);
        for (int i = 0; i < Header.REMEMBERED; i++) {
            newer.write(S3Body.of("newer " + i));
        }
        OutcomeUnknownException forgotten = catchThrowableOfType(OutcomeUnknownException.class, unknown::resolve);
        assertThat(forgotten.resolvable()).isFalse();
        assertThat(forgotten)
                .hasMessageContaining("the object was written more than 8 times since")
                .hasMessageContaining("Read the object, and compare");
    }

    @Test
    void aClaimWhoseAnswerIsLostIsRepeated() {
        for (int step = 0; step < 3; step++) {
            if (step == 0) {
                proxy.on("GET", key).dropRequest(Cut.FIN);
            } else if (step == 1) {
                proxy.on("PUT", key).dropRequest(Cut.RST);
            } else {
                proxy.on("PUT", key).loseAnswer(Cut.FIN);
            }
            EnvelopeClaim newer = fence.claim(TestStore.token(key), key);
            newer.write(S3Body.of("after " + step));
            assertThat(times("after " + step, newer)).isOne();
        }
    }

    @Test
    void aClaimThatIsHeldUpMayLandLaterAndDoesNoHarm() {
        S3FaultProxy.Armed held = proxy.on("PUT", key).nth(1).holdRequest();
        EnvelopeClaim newer = fence.claim(TestStore.token(key), key);
        newer.write(S3Body.of("after"));
        held.letGo();
        assertThat(held.awaitAnswer(LIMIT)).isEqualTo(412);
        assertThat(fence.read(key).orElseThrow().text()).isEqualTo("after");
    }

    @Test
    void anInterruptedWriterFindsOutWhatBecameOfItsWriteAndKeepsTheFlag() throws InterruptedException {
        S3FaultProxy.Armed held = proxy.on("PUT", key).holdAnswer();
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
        assertThat(times("after")).isOne();
    }
}
