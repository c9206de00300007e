package dev.fenceline.examples.springboot;

import dev.fenceline.BackendUnavailableException;
import dev.fenceline.FencelineException;
import dev.fenceline.LockNotAcquiredException;
import dev.fenceline.RetryableConflictException;
import dev.fenceline.StaleTokenException;
import org.springframework.dao.CannotAcquireLockException;
import org.springframework.http.HttpHeaders;
import org.springframework.http.HttpStatus;
import org.springframework.http.ProblemDetail;
import org.springframework.http.ResponseEntity;
import org.springframework.web.bind.annotation.ExceptionHandler;
import org.springframework.web.bind.annotation.RestControllerAdvice;

// snippet: spring-refusals
/** What a caller is told: 409 when a newer holder has taken over, 503 when trying again is fine. */
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
            ProblemDetail problem = ProblemDetail.forStatusAndDetail(
                    HttpStatus.SERVICE_UNAVAILABLE, (ours == null ? thrown : ours).getMessage());
            return ResponseEntity.status(HttpStatus.SERVICE_UNAVAILABLE)
                    .header(HttpHeaders.RETRY_AFTER, "1")
                    .body(problem);
        }
        throw thrown; // the application's own, and what only its operator can mend
    }
}
// end snippet
