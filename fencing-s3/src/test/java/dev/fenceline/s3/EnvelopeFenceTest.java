package dev.fenceline.s3;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.fenceline.BackendMisconfiguredException;
import dev.fenceline.FencelineEvent.ClaimEnded;
import dev.fenceline.FencelineEvent.ReadBack;
import dev.fenceline.FencelineEvent.StaleRefused;
import dev.fenceline.FencelineEvent.WriteEnded;
import dev.fenceline.FencelineEvent.WriteOutcome;
import dev.fenceline.FencingToken;
import dev.fenceline.OutcomeUnknownException.Resolution;
import dev.fenceline.RetryableConflictException;
import dev.fenceline.StaleTokenException;
import dev.fenceline.TokenRejectedException;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Optional;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import software.amazon.awssdk.services.s3.model.GetObjectResponse;

@Tag("server")
class EnvelopeFenceTest {

    /** For requests that are sent as the fence sends its own, whose body some stores would keep in another form. */
    private static final Duration REQUEST = Duration.ofSeconds(30);

    static TestStore store;

    EnvelopeFence fence;
    String key;

    @BeforeAll
    static void create() {
        store = TestStore.fresh();
    }

    @BeforeEach
    void fence() {
        fence = store.envelope();
        key = TestStore.freshKey();
    }

    private EnvelopeClaim claimed() {
        return fence.claim(TestStore.token(key), key);
    }

    @Test
    void nothingIsThereBeforeTheFirstWriteAndAfterADelete() {
        assertThat(fence.read(key)).isEmpty();
        EnvelopeClaim claim = claimed();
        assertThat(claim.read()).isEmpty();
        assertThat(fence.read(key)).isEmpty();
        claim.write("there".getBytes(StandardCharsets.UTF_8));
        assertThat(fence.read(key))
                .hasValueSatisfying(content -> assertThat(content.text()).isEqualTo("there"));
        claim.delete();
        assertThat(claim.read()).isEmpty();
        assertThat(fence.read(key)).isEmpty();
    }

    @Test
    void aStaleCreateAfterADeleteIsRefused() {
        EnvelopeClaim older = claimed();
        older.write(S3Body.of("first"));
        EnvelopeClaim newer = claimed();
        newer.delete();
        assertThatThrownBy(() -> older.write(S3Body.of("back again")))
                .isInstanceOf(StaleTokenException.class)
                .hasMessageStartingWith("Write on " + store.resource(key) + " refused: token " + older.token())
                .hasMessageContaining("than " + newer.token());
        FencingToken token = older.token();
        assertThatThrownBy(() -> fence.claim(token, key))
                .isInstanceOf(StaleTokenException.class)
                .hasMessageStartingWith("Claim on " + store.resource(key) + " refused");
        assertThat(fence.read(key)).isEmpty();
    }

    /** The naive delete: with the object the mark is gone, and whoever has slept creates it again. */
    @Test
    void withoutATombstoneAStaleCreateWouldBringTheObjectBack() {
        EnvelopeClaim older = claimed();
        claimed().write(S3Body.of("secret"));
        store.client.deleteObject(delete -> delete.bucket(store.bucket).key(key));
        EnvelopeClaim back = fence.claim(older.token(), key);
        back.write(S3Body.of("back again"));
        assertThat(fence.read(key))
                .hasValueSatisfying(content -> assertThat(content.text()).isEqualTo("back again"));
    }

    @Test
    void attributesAreKeptByTheClaimsOfOthers() {
        claimed()
                .write(S3Body.of("{}")
                        .contentType("application/json")
                        .cacheControl("max-age=60")
                        .contentDisposition("attachment; filename=\"a.json\"")
                        .contentLanguage("de")
                        .metadata("owner", "billing"));
        EnvelopeClaim next = claimed();
        S3Content content = next.read().orElseThrow();
        assertThat(content.text()).isEqualTo("{}");
        assertThat(content.contentType()).contains("application/json");
        assertThat(content.cacheControl()).contains("max-age=60");
        assertThat(content.contentDisposition()).contains("attachment; filename=\"a.json\"");
        assertThat(content.contentLanguage()).contains("de");
        assertThat(content.metadata()).containsExactly(java.util.Map.entry("owner", "billing"));
        assertThat(content.token()).isEqualTo(next.token());

        GetObjectResponse raw = store.attributes(key);
        assertThat(raw.contentEncoding()).isEqualTo("gzip");
        assertThat(raw.metadata()).containsEntry("fenceline", "envelope").containsEntry("owner", "billing");
        next.delete();
        assertThat(store.attributes(key).metadata()).containsOnly(java.util.Map.entry("fenceline", "envelope-none"));
    }

    @Test
    void bodiesComeFromBytesTextFilesAndStreams(@TempDir Path directory) throws IOException {
        EnvelopeClaim claim = claimed();
        byte[] bytes = {0, 1, (byte) 0xff};
        claim.write(bytes);
        assertThat(fence.read(key).orElseThrow().bytes()).isEqualTo(bytes);

        Path file = Files.writeString(directory.resolve("body"), "from a file");
        claim.write(S3Body.of(file));
        assertThat(fence.read(key).orElseThrow().text()).isEqualTo("from a file");

        S3Body stream = S3Body.of(new ByteArrayInputStream("from a stream".getBytes(StandardCharsets.UTF_8)));
        claim.write(stream);
        assertThat(fence.read(key).orElseThrow().text()).isEqualTo("from a stream");
        assertThatThrownBy(() -> claim.write(stream))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("This body is a stream that was read already");
        assertThatThrownBy(() -> claim.write(S3Body.of(directory.resolve("missing"))))
                .isInstanceOf(java.io.UncheckedIOException.class)
                .hasMessageContaining("The body cannot be read, so nothing was written");
        claim.write(new byte[0]);
        assertThat(fence.read(key).orElseThrow().bytes()).isEmpty();
    }

    @Test
    void aBodyOf16KibibytesIsTakenAndOneByteMoreIsRefused() {
        EnvelopeClaim claim = claimed();
        byte[] random = new byte[16 * 1024];
        new java.util.Random(7).nextBytes(random);
        claim.write(random);
        assertThat(fence.read(key).orElseThrow().bytes()).isEqualTo(random);
        assertThatThrownBy(() -> claim.write(new byte[16 * 1024 + 1]))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("Write on " + store.resource(key)
                        + " refused: the body has more than 16384 bytes, which is the most that an envelope holds. Nothing was"
                        + " sent. Take S3Fence.pointer() for this key, from its first write on.");
        assertThat(fence.read(key).orElseThrow().bytes()).isEqualTo(random);
    }

    @Test
    void aKeyThatHoldsSomethingElseIsRefused() {
        store.put(key, "plain");
        assertThatThrownBy(this::claimed)
                .isInstanceOf(BackendMisconfiguredException.class)
                .hasMessage("Use of " + store.resource(key)
                        + " as a fenced object of the format 'envelope' refused: it is no gzip with an extra field. Nothing was"
                        + " written. Move that object away, or name another key.");
        String pointer = TestStore.freshKey();
        store.pointer().claim(TestStore.token(pointer), pointer).write(S3Body.of("data"));
        assertThatThrownBy(() -> fence.claim(TestStore.token(pointer), pointer))
                .isInstanceOf(BackendMisconfiguredException.class)
                .hasMessageContaining("refused: it is of the format 'pointer'");
        String envelope = TestStore.freshKey();
        fence.claim(TestStore.token(envelope), envelope);
        assertThatThrownBy(() -> store.pointer().read(envelope))
                .isInstanceOf(BackendMisconfiguredException.class)
                .hasMessageContaining("refused: it is of the format 'envelope'");
    }

    @Test
    void anEnvelopeWithAContentEncodingOfTheUsersOwnIsRefused() {
        claimed().write(S3Body.of("body"));
        byte[] bytes = store.raw(key);
        store.client.putObject(
                put -> put.bucket(store.bucket)
                        .key(key)
                        .contentEncoding("identity")
                        .overrideConfiguration(Store.once(REQUEST)),
                software.amazon.awssdk.core.sync.RequestBody.fromBytes(bytes));
        assertThatThrownBy(this::claimed)
                .isInstanceOf(BackendMisconfiguredException.class)
                .hasMessageContaining("refused: its Content-Encoding is 'identity' in place of 'gzip'");
        assertThatThrownBy(() -> S3Body.of("x").metadata("fenceline", "pointer"))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("tells readers how the object is stored");
        assertThatThrownBy(() -> S3Body.of("x").metadata("Owner", "me"))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("not in lower case");
        // Stores hand out other text encoded (RFC 2047), and each claim would encode it once more.
        assertThatThrownBy(() -> S3Body.of("x").metadata("owner", "Käthe"))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage(
                        "The value of the metadata 'owner' holds something else than printable ASCII, and a header takes"
                                + " nothing else; encode it, for instance as Base64.");
        assertThatThrownBy(() -> S3Body.of("x").contentType("text/plain\r\nx-amz-acl: public-read"))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageStartingWith("The value of the Content-Type holds something else than printable ASCII");
    }

    @Test
    void anotherSessionOfTheSameClaimIsNotOverwrittenUnseen() {
        EnvelopeClaim here = claimed();
        EnvelopeClaim there = fence.resume(here.token(), key);
        there.write(S3Body.of("there"));
        assertThatThrownBy(() -> here.write(S3Body.of("here")))
                .isInstanceOf(RetryableConflictException.class)
                .hasMessageStartingWith("Write on " + store.resource(key)
                        + " refused: another session of the same claim, token " + here.token());
        assertThatThrownBy(() -> here.write(S3Body.of("here")))
                .as("still not looked")
                .isInstanceOf(RetryableConflictException.class);
        assertThat(here.read().orElseThrow().text()).isEqualTo("there");
        here.write(S3Body.of("here"));
        there.update(content -> S3Body.of(content.orElseThrow().text() + " and there"));
        assertThat(fence.read(key).orElseThrow().text()).isEqualTo("here and there");
    }

    @Test
    void whatAChangeThrowsComesOutAsItIsAndNothingIsWritten() {
        EnvelopeClaim claim = claimed();
        claim.write(S3Body.of("before"));
        IOException own = new IOException("own");
        assertThatThrownBy(() -> claim.update(content -> {
                    throw own;
                }))
                .isSameAs(own);
        assertThat(claim.read().orElseThrow().text()).isEqualTo("before");
    }

    /** By the answer 404; a store that answers 412 leaves more open, see SecondStoreTest. */
    @Test
    @Tag("s3proxy")
    void anObjectThatWasRemovedPastTheFenceIsNotWritten() {
        EnvelopeClaim claim = claimed();
        claim.write(S3Body.of("before"));
        store.client.deleteObject(delete -> delete.bucket(store.bucket).key(key));
        assertThatThrownBy(() -> claim.write(S3Body.of("after")))
                .isInstanceOfSatisfying(
                        TokenRejectedException.class,
                        e -> assertThat(e.reason()).isEqualTo(TokenRejectedException.Reason.NOT_CLAIMED))
                .hasMessageContaining("whose mark is missing, as is the object");
        assertThat(fence.read(key)).isEmpty();
    }

    @Test
    void anObjectThatWasRestoredFromAnOlderVersionIsNotWritten() {
        EnvelopeClaim older = claimed();
        older.write(S3Body.of("old"));
        byte[] old = store.raw(key);
        EnvelopeClaim newer = claimed();
        store.client.putObject(
                put -> put.bucket(store.bucket)
                        .key(key)
                        .contentEncoding("gzip")
                        .overrideConfiguration(Store.once(REQUEST)),
                software.amazon.awssdk.core.sync.RequestBody.fromBytes(old));
        assertThatThrownBy(newer::read)
                .isInstanceOf(TokenRejectedException.class)
                .hasMessageContaining("whose mark is " + older.token());
        assertThat(fence.read(key).orElseThrow().text()).isEqualTo("old");
    }

    @Test
    void theListenerHearsOfClaimsWritesAndOnceOfARefusedSession() {
        EnvelopeClaim older = claimed();
        older.write(S3Body.of("1"));
        EnvelopeClaim newer = claimed();
        store.events.clear();
        for (int i = 0; i < 2; i++) {
            assertThatThrownBy(() -> older.write(S3Body.of("late"))).isInstanceOf(StaleTokenException.class);
        }
        newer.write(S3Body.of("2"));
        claimed();
        assertThat(store.events.get(0))
                .as("412 alone does not say that it was not done")
                .isEqualTo(new ReadBack(store.resource(key), older.token(), 1, Optional.of(Resolution.NEVER_APPLIED)));
        assertThat(store.events.get(1)).isEqualTo(new StaleRefused(store.resource(key), older.token(), newer.token()));
        assertThat(store.events.get(2)).isInstanceOfSatisfying(WriteEnded.class, ended -> {
            assertThat(ended.token()).isEqualTo(older.token());
            assertThat(ended.outcome()).isEqualTo(WriteOutcome.STALE);
        });
        assertThat(store.events.get(3)).isInstanceOfSatisfying(WriteEnded.class, ended -> {
            assertThat(ended.token()).isEqualTo(newer.token());
            assertThat(ended.outcome()).isEqualTo(WriteOutcome.APPLIED);
        });
        assertThat(store.events.get(4)).isInstanceOf(ClaimEnded.class);
        assertThat(store.events).hasSize(5);
    }

    @Test
    void keysThatCannotBeAreRefused() {
        for (String wrong : java.util.List.of("", "a\nb", "x".repeat(1025))) {
            assertThatThrownBy(() -> fence.read(wrong))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("it is text of 1 to 1024 bytes of UTF-8 without control characters");
        }
        String odd = "objects/ä b+c%2F&d=" + key;
        fence.claim(TestStore.token(odd), odd).write(S3Body.of("odd"));
        assertThat(fence.read(odd).orElseThrow().text()).isEqualTo("odd");
    }
}
