package dev.fenceline.s3;

import java.time.DateTimeException;
import java.time.Instant;
import java.time.ZonedDateTime;
import java.time.format.DateTimeFormatter;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.RejectedExecutionException;
import software.amazon.awssdk.awscore.exception.AwsServiceException;
import software.amazon.awssdk.core.exception.SdkException;
import software.amazon.awssdk.http.SdkHttpResponse;

/** What an exception of the client says of the store. */
final class Failures {

    private static final Set<Integer> MAY_PASS = Set.of(408, 425, 429);

    private Failures() {}

    static int status(RuntimeException failure) {
        return failure instanceof AwsServiceException answered ? answered.statusCode() : 0;
    }

    static String code(RuntimeException failure) {
        return failure instanceof AwsServiceException answered
                        && answered.awsErrorDetails() != null
                        && answered.awsErrorDetails().errorCode() != null
                ? answered.awsErrorDetails().errorCode()
                : "";
    }

    /** Tells whether a store with the right settings would not have said so, however often it is asked. */
    static boolean isSetting(RuntimeException failure) {
        int status = status(failure);
        return code(failure).equals("NoSuchBucket")
                || code(failure).equals("NotImplemented")
                || (status >= 300
                        && status < 500
                        && status != 404
                        && status != 409
                        && status != 412
                        && !MAY_PASS.contains(status)
                        && !code(failure).equals("RequestTimeout"));
    }

    /** The client may have sent the request several times, and then the last answer says nothing of the earlier ones. */
    static boolean wasSentOnce(RuntimeException failure) {
        return failure instanceof SdkException answered
                && answered.numAttempts() != null
                && answered.numAttempts() == 1;
    }

    /**
     * Tells whether the client was closed, by whoever made it. It says so itself where it sets a timer for the request, or else its HTTP
     * client does: that of Apache and that of the CRT.
     */
    static boolean isClosed(RuntimeException failure) {
        for (Throwable cause = failure; cause != null; cause = cause.getCause()) {
            String said = Optional.ofNullable(cause.getMessage()).orElse("");
            if (cause instanceof RejectedExecutionException
                    && (said.contains("[Terminated") || said.contains("[Shutting down"))) {
                return true;
            }
            if (cause instanceof IllegalStateException
                    && (said.contains("Connection pool shut down") || said.contains("Client is closed"))) {
                return true;
            }
        }
        return false;
    }

    static Optional<Instant> date(RuntimeException failure) {
        return failure instanceof AwsServiceException answered && answered.awsErrorDetails() != null
                ? date(answered.awsErrorDetails().sdkHttpResponse())
                : Optional.empty();
    }

    static Optional<Instant> date(SdkHttpResponse response) {
        return response == null
                ? Optional.empty()
                : response.firstMatchingHeader("Date").flatMap(Failures::parsed);
    }

    private static Optional<Instant> parsed(String date) {
        try {
            return Optional.of(ZonedDateTime.parse(date, DateTimeFormatter.RFC_1123_DATE_TIME)
                    .toInstant());
        } catch (DateTimeException e) {
            return Optional.empty();
        }
    }

    /** One line for a message. */
    static String text(RuntimeException failure) {
        if (isClosed(failure)) {
            return "the S3Client was closed; make a new one";
        }
        int status = status(failure);
        if (status != 0) {
            return status + (code(failure).isEmpty() ? "" : " " + code(failure));
        }
        Throwable root = failure;
        while (root.getCause() != null) {
            root = root.getCause();
        }
        return root.getMessage() == null
                ? root.getClass().getSimpleName()
                : root.getMessage().lines().findFirst().orElse("");
    }
}
