package dev.fenceline.testkit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Arrays;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;

class ChildJvmTest {

    private static final Duration LIMIT = Duration.ofSeconds(20);

    @Test
    void aChildHasOurClassPathAndHearsAndAnswersLines() {
        try (ChildJvm child = ChildJvm.start(Echo.class, "one argument", "zwei")) {
            assertThat(child.awaitLine("args ", LIMIT)).isEqualTo("args [one argument, zwei]");
            child.send("grün");
            assertThat(child.awaitLine("echo ", LIMIT)).isEqualTo("echo grün");
            assertThat(child.pid()).isNotEqualTo(ProcessHandle.current().pid());
        }
    }

    @Test
    void aPausedChildIsInStateTAndAnswersOnlyAfterItIsContinued() {
        try (ChildJvm child = ChildJvm.start(Echo.class)) {
            child.awaitLine("args ", LIMIT);
            child.pause();
            assertThat(child.state()).isEqualTo('T');
            child.send("while asleep");
            assertThatIllegalStateException()
                    .isThrownBy(() -> child.awaitLine("echo ", Duration.ofMillis(200)))
                    .withMessageContaining("(state T) printed no line 'echo …' within 200 ms")
                    .withMessageContaining("args []");
            child.resume();
            assertThat(child.awaitLine("echo ", LIMIT)).isEqualTo("echo while asleep");
            assertThat(child.state()).isNotEqualTo('T');
        }
    }

    @Test
    void terminateRunsShutdownHooksAndKillDoesNot() {
        try (ChildJvm asked = ChildJvm.start(Echo.class);
                ChildJvm killed = ChildJvm.start(Echo.class)) {
            asked.awaitLine("args ", LIMIT);
            killed.awaitLine("args ", LIMIT);
            asked.terminate();
            assertThat(asked.awaitLine("hook", LIMIT)).isEqualTo("hook");
            assertThat(asked.awaitExit(LIMIT)).isEqualTo(128 + 15);
            killed.kill();
            assertThatIllegalStateException()
                    .isThrownBy(() -> killed.awaitLine("hook", LIMIT))
                    .withMessageContaining("(ended with 137) ended its output without a line 'hook…'");
            assertThat(killed.awaitExit(LIMIT)).isEqualTo(128 + 9);
            assertThat(killed.state()).isEqualTo(ProcessTable.GONE);
        }
    }

    @Test
    void aPausedChildCanBeKilled() {
        try (ChildJvm child = ChildJvm.start(Echo.class)) {
            child.awaitLine("args ", LIMIT);
            child.pause();
            child.kill();
            assertThat(child.awaitExit(LIMIT)).isEqualTo(128 + 9);
        }
    }

    @Test
    void aFailureShowsWhatTheChildWroteToStandardError() {
        try (ChildJvm child = ChildJvm.start(Failing.class)) {
            assertThatIllegalStateException()
                    .isThrownBy(() -> child.awaitLine("ready", LIMIT))
                    .withMessageContaining("(ended with 1) ended its output without a line 'ready…'")
                    .withMessageContaining("It printed starting")
                    .withMessageContaining("the cat ate the configuration");
        }
    }

    @Test
    void awaitingTheEndOfAChildThatStaysIsBounded() {
        try (ChildJvm child = ChildJvm.start(Echo.class)) {
            child.awaitLine("args ", LIMIT);
            assertThatIllegalStateException()
                    .isThrownBy(() -> child.awaitExit(Duration.ofMillis(50)))
                    .withMessageContaining("still runs after 50 ms");
        }
    }

    @Test
    void aChildOfAKilledJvmIsEndedToo() {
        try (ChildJvm parent = ChildJvm.start(Parent.class)) {
            long grandchild =
                    Long.parseLong(parent.awaitLine("grandchild ", LIMIT).substring("grandchild ".length()));
            assertThat(ProcessTable.gone(grandchild)).isFalse();
            parent.kill();
            Polling.until("the grandchild " + grandchild + " is ended", LIMIT, () -> ProcessTable.gone(grandchild));
        }
    }

    /** Answers each line; waits for more. */
    static final class Echo {
        public static void main(String[] args) throws IOException {
            Runtime.getRuntime().addShutdownHook(new Thread(() -> System.out.println("hook")));
            System.out.println("args " + Arrays.toString(args));
            BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
            for (String line = in.readLine(); line != null; line = in.readLine()) {
                System.out.println("echo " + line);
            }
        }
    }

    /** Fails at once. */
    static final class Failing {
        public static void main(String[] args) {
            System.out.println("starting");
            throw new IllegalArgumentException("the cat ate the configuration");
        }
    }

    /** Has a paused child of its own, which only SIGKILL reaches. */
    static final class Parent {
        public static void main(String[] args) throws InterruptedException {
            ChildJvm child = ChildJvm.start(Echo.class);
            child.awaitLine("args ", LIMIT);
            child.pause();
            System.out.println("grandchild " + child.pid());
            new CountDownLatch(1).await();
        }
    }
}
