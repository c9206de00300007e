package dev.fenceline.lock;

import static dev.fenceline.lock.Fixture.ACCOUNT;
import static org.assertj.core.api.Assertions.assertThat;

import dev.fenceline.FencelineListener;
import dev.fenceline.LockOptions;
import dev.fenceline.lock.LockTransport.ReleaseReply;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Which releases one node is sent again, and when. */
class NodeReleasesTest {

    private static final LockKey LOCK = Fixture.fenced(ACCOUNT);

    private final ScheduledThreadPoolExecutor scheduler = new ScheduledThreadPoolExecutor(1);
    private final Notices notices = new Notices(FencelineListener.none());
    private final AtomicLong ahead = new AtomicLong();
    private boolean admitted = true;
    private final List<NodeReleases.Due> sent = new ArrayList<>();
    private final UUID holder = UUID.randomUUID();
    private final LockOptions options =
            Fixture.options().commandTimeout(Duration.ofMinutes(1)).build();
    private final NodeReleases releases =
            new NodeReleases(Context.of(options, clock(), scheduler, notices), this::answer, () -> admitted);
    private @Nullable SendFailure failure;
    private Runnable meanwhile = () -> {};

    private LockClock clock() {
        LockClock right = LockClock.system();
        return new LockClock() {
            @Override
            public long nanoTime() {
                return right.nanoTime() + ahead.get();
            }

            @Override
            public long wallMicros() {
                return right.wallMicros();
            }
        };
    }

    private CompletableFuture<ReleaseReply> answer(NodeReleases.Due due) {
        sent.add(due);
        meanwhile.run();
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

    /** The clocks of the nodes may have been set back: what the second one was granted would be released. */
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

    /** Clocks that were set back can lead to it. */
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

    /** The connection came between the attempt and the note that it had failed, and went over what was noted by then. */
    @Test
    void aReleaseThatFailsJustAsTheNodeIsAdmittedAgainIsSentAgain() {
        failure = new SendFailure(SendFailure.Kind.UNREACHABLE, "being looked at", null);
        meanwhile = releases::sendAgain;
        release(Long.MAX_VALUE);
        assertThat(newest()).containsExactly(Long.MAX_VALUE);
        failure = null;
        meanwhile = () -> {};
        aCommandTimeoutLater();
        assertThat(newest()).containsExactly(Long.MAX_VALUE, Long.MAX_VALUE);
        assertThat(releases.size()).isZero();
    }

    /** Its next connection sends what is waiting; until then trying would be in vain, however many there are. */
    @Test
    void aNodeThatIsAwayIsNotTriedFromTimeToTime() {
        admitted = false;
        failure = new SendFailure(SendFailure.Kind.UNREACHABLE, "away", null);
        release(Long.MAX_VALUE);
        assertThat(scheduler.getQueue()).isEmpty();
        failure = null;
        releases.sendAgain();
        assertThat(newest()).containsExactly(Long.MAX_VALUE, Long.MAX_VALUE);
    }

    /** The others granted it; this node may be reached by the request only when the lease was given back. */
    @Test
    void theEndOfALeaseIsSentAgainWhereItsRequestWasLostBefore() {
        NodeReleases.Request request = releases.asking(holder, 7);
        request.over(NodeReleases.End.LOST);
        release(Long.MAX_VALUE);
        assertThat(newest()).containsExactly(Long.MAX_VALUE);
        aCommandTimeoutLater();
        assertThat(newest()).containsExactly(Long.MAX_VALUE, Long.MAX_VALUE);
        release(Long.MAX_VALUE);
        aCommandTimeoutLater();
        assertThat(newest()).hasSize(3);
    }

    @Test
    void aRequestThatWasLostIsForgottenWithTheLeaseThatItCanHaveBegun() {
        NodeReleases.Request request = releases.asking(holder, 7);
        request.over(NodeReleases.End.LOST);
        ahead.set(Duration.ofHours(1).toNanos());
        release(Long.MAX_VALUE);
        aCommandTimeoutLater();
        assertThat(newest()).containsExactly(Long.MAX_VALUE);
    }

    /** In one process the request of the next holder ends the last one, and may come to the node before that one's own. */
    @Test
    void aHolderWhoseSuccessorEndedItIsReleasedWhereItsRequestTurnsOutToBeGranted() {
        NodeReleases.Request slow = releases.asking(holder, 7);
        releases.succeeded(LOCK, holder);
        assertThat(sent).isEmpty();
        slow.over(NodeReleases.End.GRANTED);
        assertThat(newest()).containsExactly(Long.MAX_VALUE);
        NodeReleases.Request lost = releases.asking(holder, 7);
        lost.over(NodeReleases.End.LOST);
        releases.succeeded(LOCK, holder);
        aCommandTimeoutLater();
        assertThat(newest()).containsExactly(Long.MAX_VALUE, Long.MAX_VALUE);
    }

    /** A node that hears nothing, and a holder that asks there for hours: what others have released meanwhile is not kept as long. */
    @Test
    void aHolderThatIsReleasedAgainAndAgainKeepsNoOtherFromBeingForgotten() {
        failure = new SendFailure(SendFailure.Kind.UNANSWERED, "silent", null);
        long most = options.lease().toNanos() * 2 / 3;
        release(1);
        var unused = releases.send(LOCK, UUID.randomUUID(), Long.MAX_VALUE, 0);
        ahead.addAndGet(most);
        release(2);
        ahead.addAndGet(most);
        release(3);
        assertThat(releases.size()).isEqualTo(1);
    }
}
