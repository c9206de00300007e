package dev.fenceline.lock;

import static org.assertj.core.api.Assertions.assertThat;

import dev.fenceline.FencelineListener;
import io.lettuce.core.api.StatefulConnection;
import java.io.IOException;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** When a connection that was lost is made again. */
class ReplacedTest {

    /** Does nothing, and stays open until somebody says otherwise. */
    private static final class Line implements Replaced.Connection {

        @Override
        @SuppressWarnings("unchecked")
        public StatefulConnection<String, String> connection() {
            return (StatefulConnection<String, String>) Proxy.newProxyInstance(
                    StatefulConnection.class.getClassLoader(),
                    new Class<?>[] {StatefulConnection.class},
                    (proxy, method, args) -> switch (method.getName()) {
                        case "isOpen" -> true;
                        case "closeAsync" -> CompletableFuture.completedFuture(null);
                        default -> null;
                    });
        }
    }

    /** Writes the delays down, and carries out what is due when a test says so. */
    private static final class Times extends ScheduledThreadPoolExecutor {

        private final List<Long> millis = new ArrayList<>();
        private final Deque<Runnable> due = new ArrayDeque<>();

        private Times() {
            super(1);
        }

        @Override
        public ScheduledFuture<?> schedule(Runnable step, long delay, TimeUnit unit) {
            millis.add(unit.toMillis(delay));
            due.add(step);
            return super.schedule(() -> {}, 0, unit);
        }

        private void go() {
            due.remove().run();
        }
    }

    private final Times times = new Times();
    private final Notices notices = new Notices(FencelineListener.none());
    private final AtomicLong now = new AtomicLong();
    private final List<Line> made = new ArrayList<>();
    private boolean reachable = true;
    private final Replaced<Line> replaced = new Replaced<>(
            handshake -> reachable
                    ? CompletableFuture.completedFuture(new Line())
                    : CompletableFuture.failedFuture(new IOException("nobody listens")),
            made::add,
            Context.of(Fixture.options().build(), clock(), times, notices));

    private LockClock clock() {
        return new LockClock() {
            @Override
            public long nanoTime() {
                return now.get();
            }

            @Override
            public long wallMicros() {
                return now.get() / 1_000;
            }
        };
    }

    @AfterEach
    void end() {
        times.shutdownNow();
        notices.close(Duration.ZERO);
    }

    private void lose() {
        replaced.lost(made.get(made.size() - 1), "cut");
    }

    private void connect() {
        var unused = replaced.begin(CompletableFuture.completedFuture(new Line()));
    }

    @Test
    void aServerThatCannotBeReachedIsTriedEverMoreSeldomAndAtLeastTwiceASecond() {
        connect();
        now.addAndGet(Duration.ofMinutes(1).toNanos());
        reachable = false;
        lose();
        for (int i = 0; i < 7; i++) {
            times.go();
        }
        assertThat(times.millis).containsExactly(20L, 40L, 80L, 160L, 320L, 500L, 500L, 500L);
    }

    /** As a node that another address leads to as well, or that refuses what comes after the login. */
    @Test
    void aServerWhoseConnectionsAreOfNoUseIsTriedEverMoreSeldomToo() {
        connect();
        for (int i = 0; i < 7; i++) {
            lose();
            times.go();
        }
        assertThat(times.millis).containsExactly(20L, 40L, 80L, 160L, 320L, 500L, 500L);
    }

    @Test
    void aConnectionThatLastedIsReplacedAtOnce() {
        connect();
        for (int i = 0; i < 7; i++) {
            lose();
            times.go();
        }
        now.addAndGet(Duration.ofSeconds(1).toNanos());
        lose();
        assertThat(times.millis).endsWith(500L, 20L);
    }
}
