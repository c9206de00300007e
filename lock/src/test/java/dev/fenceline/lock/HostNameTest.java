package dev.fenceline.lock;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class HostNameTest {

    @Test
    void aResolverThatHangsIsNotWaitedFor() {
        CountDownLatch answers = new CountDownLatch(1);
        assertThat(HostName.within(50, () -> {
                    try {
                        answers.await();
                    } catch (InterruptedException e) {
                        Thread.currentThread().interrupt();
                    }
                    return "late";
                }))
                .isEqualTo("unknown host");
        answers.countDown();
    }

    @Test
    void aResolverThatAnswersIsBelieved() {
        assertThat(HostName.within(10_000, () -> "node-7")).isEqualTo("node-7");
    }

    @Test
    void theKernelsNameIsALineThatNeedNotBeThere(@TempDir Path folder) throws IOException {
        Path file = folder.resolve("hostname");
        assertThat(HostName.line(file)).isEmpty();
        Files.writeString(file, "\n");
        assertThat(HostName.line(file)).isEmpty();
        Files.writeString(file, "node-7\n");
        assertThat(HostName.line(file)).contains("node-7");
        assertThat(HostName.ours()).isNotBlank();
    }
}
