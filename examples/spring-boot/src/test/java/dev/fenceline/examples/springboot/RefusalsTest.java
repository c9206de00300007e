package dev.fenceline.examples.springboot;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.fenceline.BackendUnavailableException;
import dev.fenceline.FencingToken;
import dev.fenceline.LockName;
import dev.fenceline.LockNotAcquiredException;
import dev.fenceline.RetryableConflictException;
import dev.fenceline.StaleTokenException;
import dev.fenceline.TransactionRolledBackException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import org.junit.jupiter.api.Test;
import org.springframework.dao.CannotAcquireLockException;
import org.springframework.http.HttpHeaders;
import org.springframework.http.ProblemDetail;
import org.springframework.http.ResponseEntity;
import org.springframework.transaction.TransactionSystemException;

/** Which answer a caller gets for which exception. */
class RefusalsTest {

    private static final LockName ACCOUNT = LockName.of("account", 42);

    private final Refusals refusals = new Refusals();

    @Test
    void aStaleTokenUnderAnExceptionOfTheFrameworkIsAConflictOfTwoTokens() {
        FencingToken mine = new FencingToken(ACCOUNT, 7, new UUID(1, 1));
        FencingToken newest = new FencingToken(ACCOUNT, 8, new UUID(2, 2));
        StaleTokenException stale =
                new StaleTokenException("Transaction", "PostgreSQL guard 'account:42'", mine, newest, null);

        ResponseEntity<ProblemDetail> answer = refusals.answer(new TransactionSystemException("theirs", stale));

        assertThat(answer.getStatusCode().value()).isEqualTo(409);
        assertThat(answer.getBody()).satisfies(problem -> {
            assertThat(problem.getDetail()).isEqualTo(stale.getMessage());
            assertThat(problem.getProperties())
                    .isEqualTo(Map.of("presented", mine.toString(), "newest", newest.toString()));
        });
    }

    @Test
    void whatMayBeTriedAgainIsAnswered503WithATime() {
        List<RuntimeException> again = List.of(
                new LockNotAcquiredException(ACCOUNT, Duration.ofSeconds(2), null),
                new RetryableConflictException("lost a race", null),
                new BackendUnavailableException("not there", null),
                new CannotAcquireLockException("interrupted"));
        assertThat(again).allSatisfy(thrown -> {
            ResponseEntity<ProblemDetail> answer = refusals.answer(thrown);
            assertThat(answer.getStatusCode().value()).isEqualTo(503);
            assertThat(answer.getHeaders().getFirst(HttpHeaders.RETRY_AFTER)).isEqualTo("1");
            assertThat(answer.getBody())
                    .satisfies(problem -> assertThat(problem.getDetail()).isEqualTo(thrown.getMessage()));
        });
    }

    @Test
    void everythingElseIsLeftToSpring() {
        List<RuntimeException> others = List.of(
                new OverdrawnException(42, 1, 2), new TransactionRolledBackException("a statement failed", null));
        assertThat(others)
                .allSatisfy(thrown ->
                        assertThatThrownBy(() -> refusals.answer(thrown)).isSameAs(thrown));
    }
}
