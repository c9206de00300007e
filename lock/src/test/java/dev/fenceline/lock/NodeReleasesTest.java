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
            Context.of(Fixture.options().build(), LockClock.system(), scheduler, notices), due -> {
                sent.add(due);
                return CompletableFuture.completedFuture(ReleaseReply.RELEASED);
            });

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
        NodeReleases.Request request = releases.asking(holder);
        release(7);
        request.over(NodeReleases.End.GRANTED);
        assertThat(newest()).containsExactly(7L, 7L);
    }

    /** The middle clock of the nodes may have gone back a little: what the second one was granted would be released. */
    @Test
    void itIsNotSentAgainForARequestThatCameBehindIt() {
        NodeReleases.Request first = releases.asking(holder);
        release(7);
        NodeReleases.Request second = releases.asking(holder);
        first.over(NodeReleases.End.NOT_GRANTED);
        second.over(NodeReleases.End.GRANTED);
        assertThat(newest()).containsExactly(7L);
    }

    @Test
    void theEndOfALeaseIsSentAgainForEachRequestThatIsStillUnderWay() {
        NodeReleases.Request first = releases.asking(holder);
        release(7);
        NodeReleases.Request second = releases.asking(holder);
        release(Long.MAX_VALUE);
        second.over(NodeReleases.End.NOT_GRANTED);
        first.over(NodeReleases.End.GRANTED);
        assertThat(newest()).containsExactly(7L, Long.MAX_VALUE, Long.MAX_VALUE);
    }

    @Test
    void whatIsReleasedWithoutARequestUnderWayIsSentOnce() {
        NodeReleases.Request request = releases.asking(holder);
        request.over(NodeReleases.End.GRANTED);
        release(Long.MAX_VALUE);
        assertThat(newest()).containsExactly(Long.MAX_VALUE);
    }
}
