package dev.fenceline;

import static org.assertj.core.api.Assertions.assertThat;

import java.sql.SQLException;
import org.junit.jupiter.api.Test;

/** Ours is found under what frameworks make of it. */
class FoundExceptionTest {

    private final FencelineException ours = new UnfencedWriteException("ours", null);

    @Test
    void itIsFoundAmongCauses() {
        assertThat(FencelineException.in(ours)).containsSame(ours);
        assertThat(FencelineException.in(new RuntimeException(new IllegalStateException(ours))))
                .containsSame(ours);
    }

    @Test
    void itIsFoundWhereItIsSuppressed() {
        SQLException driver = new SQLException("the driver's");
        driver.addSuppressed(new RuntimeException(ours));

        assertThat(FencelineException.in(new RuntimeException("the framework's", driver)))
                .containsSame(ours);
    }

    @Test
    void theNearestIsFound() {
        RuntimeException thrown =
                new RuntimeException(new RuntimeException(new UnfencedWriteException("farther", null)));
        thrown.addSuppressed(ours);

        assertThat(FencelineException.in(thrown)).containsSame(ours);
    }

    @Test
    void causesInACircleEnd() {
        RuntimeException first = new RuntimeException("first");
        RuntimeException second = new RuntimeException("second", first);
        first.initCause(second);
        first.addSuppressed(second);

        assertThat(FencelineException.in(first)).isEmpty();
        second.addSuppressed(ours);
        assertThat(FencelineException.in(first)).containsSame(ours);
    }

    @Test
    void othersAreNotFound() {
        assertThat(FencelineException.in(new RuntimeException(new SQLException("x"))))
                .isEmpty();
    }
}
