package dev.fenceline.examples.springboot;

import dev.fenceline.BackendUnavailableException;
import dev.fenceline.FencelineException;
import dev.fenceline.LockNotAcquiredException;
import dev.fenceline.RetryableConflictException;
import dev.fenceline.StaleTokenException;
import java.sql.SQLException;
import java.util.Objects;
import java.util.Optional;
import java.util.stream.Stream;
import org.springframework.dao.CannotAcquireLockException;
import org.springframework.http.HttpHeaders;
import org.springframework.http.HttpStatus;
import org.springframework.http.ProblemDetail;
import org.springframework.http.ResponseEntity;
import org.springframework.web.bind.annotation.ExceptionHandler;
import org.springframework.web.bind.annotation.RestControllerAdvice;

// snippet: spring-refusals
/** What a caller is told: 409 when a newer holder has taken over, 503 when trying again is fine, 500 when it is a fault of the program. */
@RestControllerAdvice
class Refusals {

    @ExceptionHandler
    ResponseEntity<ProblemDetail> answer(RuntimeException thrown) {
        FencelineException ours = FencelineException.in(thrown).orElse(null); // the framework's may be around it
        if (ours instanceof StaleTokenException stale) {
            ProblemDetail problem = ProblemDetail.forStatusAndDetail(HttpStatus.CONFLICT, stale.getMessage());
            problem.setProperty("presented", stale.presented().toString());
            problem.setProperty("newest", stale.newest().toString());
            return ResponseEntity.of(problem).build();
        }
        if (ours instanceof LockNotAcquiredException
                || ours instanceof RetryableConflictException
                || ours instanceof BackendUnavailableException
                || thrown instanceof CannotAcquireLockException) {
            ResponseEntity<ProblemDetail> again = answer(HttpStatus.SERVICE_UNAVAILABLE, ours == null ? thrown : ours);
            return ResponseEntity.status(again.getStatusCode())
                    .header(HttpHeaders.RETRY_AFTER, "1")
                    .body(again.getBody());
        }
        Optional<SQLException> refusal = ours == null ? refusalOfAProtectedTable(thrown) : Optional.empty();
        if (refusal.isPresent()) { // a write past @Fenced, and Spring knows only an UncategorizedSQLException for it
            return answer(HttpStatus.INTERNAL_SERVER_ERROR, refusal.get());
        }
        throw thrown; // the application's own, and what only its operator can mend
    }

    private static ResponseEntity<ProblemDetail> answer(HttpStatus status, Exception why) {
        String what =
                Objects.toString(why.getMessage()).lines().findFirst().orElse(""); // PostgreSQL's has a stack below
        return ResponseEntity.of(ProblemDetail.forStatusAndDetail(status, what)).build();
    }

    private static Optional<SQLException> refusalOfAProtectedTable(RuntimeException thrown) {
        return Stream.<Throwable>iterate(thrown, Objects::nonNull, Throwable::getCause)
                .filter(cause -> cause instanceof SQLException sql && "FL001".equals(sql.getSQLState()))
                .map(SQLException.class::cast)
                .findFirst();
    }
}
// end snippet
