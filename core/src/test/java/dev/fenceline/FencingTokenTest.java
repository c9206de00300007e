package dev.fenceline;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import java.util.Random;
import java.util.UUID;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class FencingTokenTest {

    private static final LockName ACCOUNT = LockName.of("account", 42);
    private static final UUID HOLDER = new UUID(0x0123456789abcdefL, 0xfedcba9876543210L);

    @Test
    void theEncodedFormIsStable() {
        // Tokens travel between releases: this text may never change within version 1.
        assertThat(new FencingToken(ACCOUNT, 1_764_429_012_400_000L, HOLDER).encode())
                .isEqualTo("v1.YWNjb3VudDo0Mg.1764429012400000.0123456789abcdeffedcba9876543210");
    }

    @Test
    void parseIsTheInverseOfEncode() {
        long seed = System.nanoTime();
        Random random = new Random(seed);
        for (int i = 0; i < 10_000; i++) {
            byte[] bytes = new byte[random.nextInt(100)];
            random.nextBytes(bytes);
            String part = new String(bytes, java.nio.charset.StandardCharsets.ISO_8859_1).replaceAll("\\p{Cc}", "");
            long value = 1 + (random.nextLong() >>> 12);
            FencingToken token = new FencingToken(
                    LockName.of("x", part),
                    Math.min(value, FencingToken.VALUE_LIMIT - 1),
                    new UUID(random.nextLong(), i));
            assertThat(FencingToken.parse(token.encode())).as("seed %d", seed).isEqualTo(token);
        }
    }

    @Test
    void theLongestTokenFitsTheBoundAndIsAscii() {
        LockName longest = LockName.of("a", "ü".repeat(255));
        String encoded = new FencingToken(longest, FencingToken.VALUE_LIMIT - 1, HOLDER).encode();
        assertThat(encoded)
                .hasSizeLessThanOrEqualTo(FencingToken.MAX_ENCODED_LENGTH)
                .matches("[!-~]+");
    }

    @Test
    void aTokenThatWasCutOffAnywhereIsRefused() {
        String encoded = new FencingToken(ACCOUNT, 7, HOLDER).encode();
        for (int length = 0; length < encoded.length(); length++) {
            String cut = encoded.substring(0, length);
            assertThatThrownBy(() -> FencingToken.parse(cut))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("Not an encoded token");
        }
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "v1.YWNjb3VudDo0Mg.-1.0123456789abcdeffedcba9876543210",
                "v1.YWNjb3VudDo0Mg.0.0123456789abcdeffedcba9876543210",
                "v1.YWNjb3VudDo0Mg.007.0123456789abcdeffedcba9876543210",
                "v1.YWNjb3VudDo0Mg.7.0123456789ABCDEFFEDCBA9876543210",
                "v1.YWNjb3VudDo0Mg.7.0123456789abcdeffedcba9876543210 ",
                "v1.gICA.7.0123456789abcdeffedcba9876543210",
                "v1.A.7.0123456789abcdeffedcba9876543210"
            })
    void malformedTextIsRefused(String text) {
        assertThatThrownBy(() -> FencingToken.parse(text))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("Not an encoded token");
    }

    @Test
    void aMissingHeaderIsNamedAsSuch() {
        assertThatThrownBy(() -> FencingToken.parse(null))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("No encoded token: it is null. Is the header missing?");
    }

    @Test
    void aNewerVersionIsNamed() {
        assertThatThrownBy(() -> FencingToken.parse("v2.whatever"))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("has version 2; this release reads version 1");
    }

    @Test
    void textBeyondTheBoundIsRefusedWithoutLookingAtIt() {
        assertThatThrownBy(() -> FencingToken.parse("v1." + "A".repeat(5_000_000)))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("at most 900");
    }

    @ParameterizedTest
    @ValueSource(longs = {0, -1, Long.MIN_VALUE, FencingToken.VALUE_LIMIT, Long.MAX_VALUE})
    void valuesOutsideTheRangeAreRefused(long value) {
        assertThatThrownBy(() -> new FencingToken(ACCOUNT, value, HOLDER))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("Token value " + value + " for lock 'account:42' is not between 1 and 2^53 - 1.");
    }

    @Test
    void aTokenOfAnotherLockIsRejected() {
        FencingToken token = new FencingToken(ACCOUNT, 7, HOLDER);
        assertThat(token.requireLock(LockName.of("account", 42))).isSameAs(token);
        assertThatThrownBy(() -> token.requireLock(LockName.of("account", 43)))
                .isInstanceOfSatisfying(TokenRejectedException.class, e -> {
                    assertThat(e.reason()).isEqualTo(TokenRejectedException.Reason.OTHER_LOCK);
                    assertThat(e.presented()).isEqualTo(token);
                })
                .hasMessage("Token 7/01234567 of 'account:42' rejected for 'account:43': it belongs to another lock."
                        + " Take the lock 'account:43', or check who sent this token.");
    }

    @Test
    void theDistanceOfTwoTokensIsServerTime() {
        FencingToken older = new FencingToken(ACCOUNT, 1_764_429_000_000_000L, HOLDER);
        FencingToken newer = new FencingToken(ACCOUNT, 1_764_429_012_400_000L, new UUID(1, 1));
        assertThat(older.olderThan(newer)).isEqualTo(Duration.ofMillis(12_400));
        assertThat(newer.olderThan(older)).isNegative();
    }
}
