package dev.fenceline.verification.rollout;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.fenceline.testkit.ChildJvm;
import dev.fenceline.testkit.SharedServers;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** The processes of the service, and what all of them together have written. */
final class Fleet implements AutoCloseable {

    private static final Duration LIMIT = Duration.ofSeconds(60);

    private final Shop shop;
    private final String keyPrefix;
    private final List<Instance> all = new ArrayList<>();
    private final Set<Instance> writing = new LinkedHashSet<>();
    private final long[] acknowledged = new long[Shop.ROWS];

    Fleet(Shop shop) {
        this.shop = shop;
        this.keyPrefix = "rollout-" + shop.database();
    }

    /** A process, which starts meanwhile. */
    final class Instance {

        private final String name;
        private final ChildJvm jvm;
        private int refused;

        private Instance(String name, ChildJvm jvm) {
            this.name = name;
            this.jvm = jvm;
            all.add(this);
        }

        /** Writes all the time from now on. */
        void go() {
            jvm.send("go");
            writing.add(this);
        }

        /** Writes one order or parcel. */
        void write(String kind) {
            assertThat(ask("once " + kind, "once ")).as(name).isEqualTo("once written");
        }

        /** Writes once and fails; returns the SQLSTATE and what was said. */
        String refused(String kind) {
            String answer = ask("once " + kind, "once ");
            assertThat(answer).as(name).isNotEqualTo("once written");
            refused++;
            return answer.substring("once ".length());
        }

        /** Ends it. */
        void stop() {
            written("stop");
            String[] counts = jvm.awaitLine("stopped ", LIMIT).split(" ", -1);
            for (int row = 0; row < Shop.ROWS; row++) {
                acknowledged[row] += Long.parseLong(counts[row + 1]);
            }
            writing.remove(this);
            assertThat(jvm.awaitExit(LIMIT)).as("exit code of %s", name).isZero();
        }

        String ask(String line, String answer) {
            jvm.send(line);
            return jvm.awaitLine(answer, LIMIT);
        }

        /** Returns how often it has written, and nothing may have failed but what was to. */
        private long written(String question) {
            String[] count = ask(question, "count ").split(" ", 4);
            assertThat(count[2] + " failed")
                    .as("writes of %s, of which the first to fail got %s", name, count[3])
                    .isEqualTo(refused + " failed");
            return Long.parseLong(count[1]);
        }
    }

    Instance old(String name) {
        return new Instance(name, ChildJvm.start(OldVersion.class, shop.url(), shop.role()));
    }

    Instance renewed(String name) {
        return new Instance(
                name,
                ChildJvm.start(
                        NewVersion.class,
                        shop.url(),
                        shop.role(),
                        SharedServers.redis().uri(),
                        keyPrefix));
    }

    void awaitReady() {
        all.forEach(instance -> instance.jvm.awaitLine("ready", LIMIT));
    }

    /** Waits until each process that writes has written so many times more, and nothing may have failed. */
    void everybodyWrites(String when, int times) {
        Map<Instance, Long> enough = new LinkedHashMap<>();
        writing.forEach(instance -> enough.put(instance, instance.written("count") + times));
        enough.forEach((instance, count) -> await(instance.name + " has written " + times + " times more " + when)
                .atMost(LIMIT)
                .until(() -> instance.written("count") >= count));
    }

    /** What was acknowledged by the processes that have stopped, row by row. */
    List<Long> acknowledged() {
        return Arrays.stream(acknowledged).boxed().toList();
    }

    @Override
    public void close() {
        all.forEach(instance -> instance.jvm.close());
    }
}
