package dev.fenceline;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

class LockOptionsTest {

    @Test
    void theDefaultsAreThoseOfTheGuarantees() {
        LockOptions options = LockOptions.defaults();
        assertThat(options.lease()).isEqualTo(Duration.ofSeconds(10));
        assertThat(options.renewalPeriod()).isEqualTo(Duration.ofSeconds(10).dividedBy(3));
        assertThat(options.maxHold()).isEqualTo(Duration.ofMinutes(10));
        assertThat(options.maxWait()).isEqualTo(Duration.ofSeconds(10));
        assertThat(options.commandTimeout()).isEqualTo(Duration.ofSeconds(1));
        assertThat(options.clockStepTolerance()).isEqualTo(Duration.ofSeconds(10));
        assertThat(options.masterClockSkew()).isEqualTo(Duration.ofMillis(250));
        assertThat(options.restartDelay()).isZero();
        assertThat(options.replicas()).isZero();
        assertThat(options.incarnationCheck()).isEqualTo(LockOptions.IncarnationCheck.CACHED);
        assertThat(options.keyPrefix()).isEqualTo("fenceline");
        assertThat(options.application()).isNotBlank();
    }

    @Test
    void whatFollowsFromTheLeaseFollowsTheLease() {
        LockOptions options = LockOptions.builder().lease(Duration.ofSeconds(3)).build();
        assertThat(options.renewalPeriod()).isEqualTo(Duration.ofSeconds(1));
        assertThat(options.maxWait()).isEqualTo(Duration.ofSeconds(3));
        assertThat(LockOptions.builder().lease(Duration.ofHours(2)).build().maxHold())
                .isEqualTo(Duration.ofHours(2));
    }

    static Stream<Arguments> refused() {
        return Stream.of(
                Arguments.of(with().lease(Duration.ZERO), "lease of 0 µs is not between 100 ms and 24 h"),
                Arguments.of(with().lease(Duration.ofSeconds(-5)), "lease of -5 s is not between 100 ms and 24 h"),
                Arguments.of(with().lease(Duration.ofDays(36_525)), "lease of 36525 days is not between"),
                Arguments.of(with().lease(Duration.ofSeconds(Long.MAX_VALUE)), "is not between 100 ms and 24 h"),
                Arguments.of(with().renewalPeriod(Duration.ofSeconds(10)), "renewalPeriod of 10 s is not between"),
                Arguments.of(with().maxHold(Duration.ofSeconds(1)), "maxHold of 1 s is not between 10 s and 366 days"),
                Arguments.of(with().maxWait(Duration.ofMillis(-1)), "maxWait of -1 ms is not between"),
                Arguments.of(with().commandTimeout(Duration.ZERO), "commandTimeout of 0 µs is not between"),
                Arguments.of(
                        with().clockStepTolerance(Duration.ofDays(2)), "clockStepTolerance of 48 h is not between"),
                Arguments.of(with().masterClockSkew(Duration.ofMillis(-1)), "masterClockSkew of -1 ms is not between"),
                Arguments.of(with().restartDelay(Duration.ofMillis(-1)), "restartDelay of -1 ms is not between"),
                Arguments.of(
                        with().restartDelay(Duration.ofDays(2)), "restartDelay of 48 h is not between 0 µs and 24 h"),
                Arguments.of(with().replicas(-1), "replicas of -1 is not between 0 and 100"),
                Arguments.of(with().replicas(101), "replicas of 101 is not between 0 and 100"),
                Arguments.of(with().keyPrefix("a{b}"), "keyPrefix 'a{b}' cannot be used"),
                Arguments.of(with().keyPrefix(""), "keyPrefix '' cannot be used"),
                Arguments.of(with().application(" "), "application must be 1 to 100 printable characters"),
                Arguments.of(with().application("a\nb"), "application must be 1 to 100 printable characters"));
    }

    @ParameterizedTest
    @MethodSource("refused")
    void valuesOutOfRangeAreRefusedByName(LockOptions.Builder builder, String message) {
        assertThatThrownBy(builder::build)
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining(message);
    }

    private static LockOptions.Builder with() {
        return LockOptions.builder();
    }
}
