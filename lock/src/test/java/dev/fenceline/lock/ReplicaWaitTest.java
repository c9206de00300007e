package dev.fenceline.lock;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

/** One WAIT at a time on a connection. */
class ReplicaWaitTest {

    private final List<CompletableFuture<Long>> sent = new ArrayList<>();
    private final ReplicaWait waiting = new ReplicaWait(() -> {
        CompletableFuture<Long> wait = new CompletableFuture<>();
        sent.add(wait);
        return wait;
    });

    @Test
    void grantsThatComeMeanwhileShareTheNextWait() {
        CompletableFuture<Long> first = waiting.acknowledged();
        CompletableFuture<Long> second = waiting.acknowledged();
        CompletableFuture<Long> third = waiting.acknowledged();
        assertThat(sent).hasSize(1);
        sent.get(0).complete(2L);
        assertThat(first).isCompletedWithValue(2L);
        // The first WAIT was sent before the second grant, so it says nothing of it.
        assertThat(second).isNotDone();
        assertThat(sent).hasSize(2);
        sent.get(1).complete(1L);
        assertThat(second).isCompletedWithValue(1L);
        assertThat(third).isCompletedWithValue(1L);
        assertThat(sent).hasSize(2);
    }

    @Test
    void aWaitThatFailedDoesNotFailTheNext() {
        CompletableFuture<Long> first = waiting.acknowledged();
        CompletableFuture<Long> second = waiting.acknowledged();
        IllegalStateException failure = new IllegalStateException("gone");
        sent.get(0).completeExceptionally(failure);
        assertThat(first).isCompletedExceptionally();
        sent.get(1).complete(1L);
        assertThat(second).isCompletedWithValue(1L);
        CompletableFuture<Long> third = waiting.acknowledged();
        sent.get(2).complete(0L);
        assertThat(third).isCompletedWithValue(0L);
    }
}
