package dev.fenceline.testkit;

import static org.assertj.core.api.Assertions.assertThat;

import dev.fenceline.FencingToken;
import dev.fenceline.LockName;
import dev.fenceline.TokenRejectedException;
import java.util.UUID;
import org.junit.jupiter.api.Test;

/**
 * What a fence promises besides whose resource knows which lock guards it, such as a row with its key: whoever sends a token
 * does not choose the lock.
 */
public abstract class NamedFenceContract extends FenceContract {

    /** For subclasses. */
    protected NamedFenceContract() {}

    @Test
    void aTokenOfAnotherLockIsRejectedEvenWhenItIsNewer() {
        FencingToken own = token(1);
        FencingToken foreign =
                new FencingToken(LockName.of("contract", "another"), token(2).value(), UUID.randomUUID());
        FenceDriver.Session session = fence().claim(own);
        assertRejected(() -> fence().claim(foreign), TokenRejectedException.Reason.OTHER_LOCK, foreign)
                .withMessageContaining("it belongs to another lock");
        assertRejected(() -> fence().resume(foreign).write("late"), TokenRejectedException.Reason.OTHER_LOCK, foreign)
                .withMessageContaining("it belongs to another lock");
        session.write("200");
        assertThat(fence().read()).isEqualTo("200");
    }
}
