package dev.fenceline.lock;

import static dev.fenceline.lock.Fixture.ACCOUNT;
import static org.assertj.core.api.Assertions.assertThat;

import dev.fenceline.FencelineListener;
import dev.fenceline.lock.LockTransport.ReleaseReply;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Which releases one node is sent again, and when. */
class NodeReleasesTest {

    private static final LockKey LOCK = Fixture.fenced(ACCOUNT);

    private final ScheduledThreadPoolExecutor scheduler = new ScheduledThreadPoolExecutor(1);
    private final Notices notices = new Notices(FencelineListener.none());
    private final List<NodeReleases.Due> sent = new ArrayList<>();
    private final UUID holder = UUID.randomUUID();
    private final NodeReleases releases = new NodeReleases(
            Context.of(
                    Fixture.options().commandTimeout(Duration.ofMinutes(1)).build(),
                    LockClock.system(),
                    scheduler,
                    notices),
            this::answer);
    private @Nullable SendFailure failure;

    private CompletableFuture<ReleaseReply> answer(NodeReleases.Due due) {
        sent.add(due);
        return failure == null
                ? CompletableFuture.completedFuture(ReleaseReply.RELEASED)
                : CompletableFuture.failedFuture(failure);
    }

    @AfterEach
    void end() {
        scheduler.shutdownNow();
        notices.close(Duration.ZERO);
    }

    private void release(long newest) {
        var unused = releases.send(LOCK, holder, newest, 0);
    }

    private List<Long> newest() {
        return sent.stream().map(NodeReleases.Due::newest).toList();
    }

    @Test
    void aReleaseIsSentAgainWhenTheRequestBeforeItTurnsOutToBeGranted() {
        NodeReleases.Request request = releases.asking(holder, 7);
        release(7);
        request.over(NodeReleases.End.GRANTED);
        assertThat(newest()).containsExactly(7L, 7L);
    }

    /** The middle clock of the nodes may have gone back a little: what the second one was granted would be released. */
    @Test
    void itIsNotSentAgainForARequestThatCameBehindIt() {
        NodeReleases.Request first = releases.asking(holder, 7);
        release(7);
        NodeReleases.Request second = releases.asking(holder, 6);
        first.over(NodeReleases.End.NOT_GRANTED);
        second.over(NodeReleases.End.GRANTED);
        assertThat(newest()).containsExactly(7L);
    }

    @Test
    void theEndOfALeaseIsSentAgainForEachRequestThatIsStillUnderWay() {
        NodeReleases.Request first = releases.asking(holder, 7);
        release(7);
        NodeReleases.Request second = releases.asking(holder, 6);
        release(Long.MAX_VALUE);
        second.over(NodeReleases.End.NOT_GRANTED);
        first.over(NodeReleases.End.GRANTED);
        assertThat(newest()).containsExactly(7L, Long.MAX_VALUE, Long.MAX_VALUE);
    }

    private void aCommandTimeoutLater() {
        List.copyOf(scheduler.getQueue()).forEach(Runnable::run);
    }

    @Test
    void aReleaseIsSentAgainACommandTimeoutAfterTheRequestBeforeItWasLost() {
        NodeReleases.Request request = releases.asking(holder, 7);
        release(7);
        request.over(NodeReleases.End.LOST);
        assertThat(newest()).containsExactly(7L);
        aCommandTimeoutLater();
        assertThat(newest()).containsExactly(7L, 7L);
    }

    /** With a mark that is ahead of the clocks every attempt proposes the token that follows it. */
    @Test
    void itIsNotSentAgainOnceTheSameTokenWasGrantedToALaterAttempt() {
        NodeReleases.Request lost = releases.asking(holder, 7);
        release(7);
        lost.over(NodeReleases.End.LOST);
        NodeReleases.Request again = releases.asking(holder, 7);
        again.over(NodeReleases.End.GRANTED);
        aCommandTimeoutLater();
        assertThat(newest()).containsExactly(7L);
    }

    @Test
    void whatANodeHasNotAcknowledgedIsForgottenOnceTheSameTokenWasGrantedToALaterAttempt() {
        failure = new SendFailure(SendFailure.Kind.UNREACHABLE, "away", null);
        release(7);
        assertThat(releases.size()).isEqualTo(1);
        NodeReleases.Request again = releases.asking(holder, 7);
        again.over(NodeReleases.End.GRANTED);
        assertThat(releases.size()).isZero();
    }

    @Test
    void theEndOfALeaseIsNotForgottenForAnything() {
        failure = new SendFailure(SendFailure.Kind.UNREACHABLE, "away", null);
        release(Long.MAX_VALUE);
        NodeReleases.Request again = releases.asking(holder, 7);
        again.over(NodeReleases.End.GRANTED);
        assertThat(releases.size()).isEqualTo(1);
    }

    @Test
    void whatIsReleasedWithoutARequestUnderWayIsSentOnce() {
        NodeReleases.Request request = releases.asking(holder, 7);
        request.over(NodeReleases.End.GRANTED);
        release(Long.MAX_VALUE);
        assertThat(newest()).containsExactly(Long.MAX_VALUE);
    }
}
