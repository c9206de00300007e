package dev.fenceline;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.math.BigDecimal;
import java.util.UUID;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class LockNameTest {

    @Test
    void partsAreJoinedByColonsAndEscaped() {
        assertThat(LockName.of("account", 42)).hasToString("account:42");
        assertThat(LockName.of("account", "a:b", "c")).hasToString("account:a%3Ab:c");
        assertThat(LockName.of("account", "50%")).hasToString("account:50%25");
        assertThat(LockName.of("nightly-report")).hasToString("nightly-report");
        assertThat(LockName.of("order", new UUID(1, 2))).hasToString("order:00000000-0000-0001-0000-000000000002");
    }

    @Test
    void aColonInAPartIsNotAColonBetweenParts() {
        assertThat(LockName.of("x", "a:b", "c")).isNotEqualTo(LockName.of("x", "a", "b:c"));
        assertThat(LockName.of("x", "a%3Ab")).isNotEqualTo(LockName.of("x", "a:b"));
    }

    @Test
    void theSameTextInAnotherUnicodeFormIsTheSameName() {
        assertThat(LockName.of("customer", "Zoe\u0308")).isEqualTo(LockName.of("customer", "Zo\u00eb"));
    }

    @ParameterizedTest
    @ValueSource(strings = {"account:42", "account:a%3Ab:c", "account:", "report", "account:{x}:ключ", "a::b", "x:%25"})
    void parseIsTheInverseOfToString(String text) {
        assertThat(LockName.parse(text)).hasToString(text);
        assertThat(LockName.parse(text).lockClass()).isEqualTo(text.split(":", 2)[0]);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "''          | A lock name is empty",
                ":42         | Lock class '' cannot be used",
                "4ever:1     | Lock class '4ever' cannot be used",
                "Käse:1      | Lock class 'Käse' cannot be used",
                "account:5%  | holds a '%' that starts neither %25 nor %3A",
                "account:%3a | holds a '%' that starts neither %25 nor %3A"
            })
    void textThatIsNoCanonicalNameIsRefused(String text, String message) {
        assertThatThrownBy(() -> LockName.parse(text))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining(message);
    }

    @Test
    void textInAnotherUnicodeFormIsRefusedByParseWithTheCanonicalForm() {
        assertThatThrownBy(() -> LockName.parse("customer:Zoe\u0308"))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("not in canonical form")
                .hasMessageContaining("customer:Zo\u00eb");
    }

    @Test
    void aNameHasAtMost512BytesOfUtf8() {
        String longest = "x".repeat(LockName.MAX_BYTES - 2);
        assertThat(LockName.of("a", longest).toString()).hasSize(LockName.MAX_BYTES);
        assertThat(LockName.parse("a:" + longest).toString()).hasSize(LockName.MAX_BYTES);
        assertThatThrownBy(() -> LockName.of("a", longest + "x"))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("has 513 bytes of UTF-8; at most 512");
        assertThatThrownBy(() -> LockName.of("a", "ü".repeat(300))).hasMessageContaining("has 602 bytes");
        assertThatThrownBy(() -> LockName.parse("a".repeat(10_000)))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("has 10000 bytes")
                .hasMessageNotContaining("a".repeat(200));
    }

    @Test
    void aNullPartIsRefused() {
        assertThatThrownBy(() -> LockName.of("account", "a", null))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("Part 2 of a lock name is null");
    }

    @Test
    void aPartWhoseTextVariesIsRefused() {
        assertThatThrownBy(() -> LockName.of("account", new BigDecimal("1.0")))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("Part 1 of a lock name is a java.math.BigDecimal");
    }

    @ParameterizedTest
    @ValueSource(strings = {"a\u0000b", "line\nfeed", "\ud800", "\udc00x"})
    void charactersThatPostgresCannotStoreAreRefused(String part) {
        assertThatThrownBy(() -> LockName.of("account", part))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("Part 1 of a lock name holds U+");
    }

    @Test
    void namesAreOrderedByTheirBytesAndNotByUtf16() {
        // In UTF-16 the surrogates of an emoji sort before U+FFxx; in UTF-8 and in PostgreSQL's "C" they sort after.
        LockName emoji = LockName.of("x", "\ud83d\ude00");
        LockName halfwidth = LockName.of("x", "\uff9f");
        assertThat(emoji).isGreaterThan(halfwidth);
        assertThat(LockName.of("x", "a")).isLessThan(LockName.of("x", "b"));
    }
}
