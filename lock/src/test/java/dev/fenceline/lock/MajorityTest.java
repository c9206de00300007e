package dev.fenceline.lock;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.fenceline.lock.LockTransport.RenewReply;
import dev.fenceline.lock.SendFailure.Kind;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** A question is settled by as many answers as are needed, and by no fewer. */
class MajorityTest {

    private final List<CompletableFuture<RenewReply>> answers = IntStream.range(0, 5)
            .mapToObj(i -> new CompletableFuture<RenewReply>())
            .toList();
    private final CompletableFuture<RenewReply> result = Majority.of(Majority.Size.of(5), RenewReply.RENEWED, answers);

    private void say(int node, RenewReply reply) {
        answers.get(node).complete(reply);
    }

    private void fail(int node, Kind kind) {
        answers.get(node).completeExceptionally(new SendFailure(kind, "node " + node + " failed", null));
    }

    @Test
    void aMajorityIsMoreThanHalf() {
        assertThat(IntStream.of(3, 4, 5, 6, 7)
                        .map(nodes -> Majority.Size.of(nodes).needed()))
                .containsExactly(2, 3, 3, 4, 4);
    }

    @Test
    void threeOfFiveSettleItWhateverTheOthersDo() {
        say(0, RenewReply.RENEWED);
        fail(1, Kind.UNREACHABLE);
        say(2, RenewReply.RENEWED);
        say(3, RenewReply.REFUSED);
        assertThat(result).isNotDone();
        say(4, RenewReply.RENEWED);
        assertThat(result).isCompletedWithValue(RenewReply.RENEWED);
    }

    @Test
    void itIsRefusedOnceTheOthersAreNoMajority() {
        say(0, RenewReply.REFUSED);
        say(1, RenewReply.REFUSED);
        assertThat(result).isNotDone();
        say(2, RenewReply.REFUSED);
        assertThat(result).isCompletedWithValue(RenewReply.REFUSED);
    }

    @Test
    void withoutAMajorityEveryReasonIsNamed() {
        say(0, RenewReply.RENEWED);
        say(1, RenewReply.RENEWED);
        fail(2, Kind.UNREACHABLE);
        fail(3, Kind.UNANSWERED);
        assertThat(result).isNotDone();
        fail(4, Kind.UNREACHABLE);
        assertThatThrownBy(() -> Fixture.answer(result))
                .isInstanceOf(SendFailure.class)
                .hasMessage("2 of 5 nodes answered and 3 are needed; node 2 failed; node 3 failed; node 4 failed")
                .satisfies(thrown -> assertThat(((SendFailure) thrown).kind()).isEqualTo(Kind.UNANSWERED));
    }

    @Test
    void whatTooManyNodesForbidIsForbidden() {
        IntStream.range(0, 3).forEach(node -> fail(node, Kind.FORBIDDEN));
        say(3, RenewReply.RENEWED);
        say(4, RenewReply.RENEWED);
        assertThatThrownBy(() -> Fixture.answer(result))
                .isInstanceOf(SendFailure.class)
                .satisfies(thrown -> assertThat(((SendFailure) thrown).kind()).isEqualTo(Kind.FORBIDDEN));
    }
}
