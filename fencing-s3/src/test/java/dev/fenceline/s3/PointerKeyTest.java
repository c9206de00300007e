package dev.fenceline.s3;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.fenceline.FencingToken;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** The data of a pointer lies under longer keys than its own, and these have to fit too. */
@Tag("server")
class PointerKeyTest {

    private final TestStore store = TestStore.fresh();
    private final PointerFence fence = store.pointer();

    @Test
    void aKeyWhoseDataWouldHaveALongerKeyThanS3TakesIsRefusedBeforeAMarkIsLeft() {
        String key = "\u00e4" + "x".repeat(968);
        FencingToken token = TestStore.token("long");
        List<ThrowingCallable> uses = List.of(
                () -> fence.claim(token, key),
                () -> fence.resume(token, key),
                () -> fence.read(key),
                () -> fence.readAll(key),
                () -> fence.open(key),
                () -> fence.open(key, "a"),
                () -> fence.locate(key),
                () -> fence.cleanUp(key, Duration.ZERO));
        for (ThrowingCallable use : uses) {
            assertThatThrownBy(use)
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessage(
                            "The key of a pointer has 970 bytes; it is text of 1 to 969 bytes of UTF-8 without control"
                                    + " characters: S3 takes keys of 1024 bytes, and those of its data are 55 longer.");
        }
        assertThat(store.client.listObjectsV2(list -> list.bucket(store.bucket)).contents())
                .isEmpty();
    }

    @Test
    void theLongestKeyIsWrittenAndItsDataHasTheLongestKeyOfS3() {
        String key = "x".repeat(969);
        fence.claim(TestStore.token(key.substring(0, 20)), key).write(S3Body.of("data"));
        assertThat(fence.read(key).orElseThrow().text()).isEqualTo("data");
        assertThat(fence.locate(key).get(0).key().getBytes(StandardCharsets.UTF_8))
                .hasSize(1024);
        String envelope = "e".repeat(1024);
        store.envelope().claim(TestStore.token("envelope"), envelope).write(S3Body.of("data"));
        assertThat(store.envelope().read(envelope).orElseThrow().text()).isEqualTo("data");
    }
}
