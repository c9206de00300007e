package dev.fenceline.s3;

import software.amazon.awssdk.awscore.exception.AwsErrorDetails;
import software.amazon.awssdk.awscore.exception.AwsServiceException;
import software.amazon.awssdk.services.s3.model.S3Exception;

/** A refusal of a store, as the client throws it. */
final class StoreAnswer {

    private StoreAnswer() {}

    static AwsServiceException of(int status, String code, String sentence) {
        return S3Exception.builder()
                .awsErrorDetails(AwsErrorDetails.builder()
                        .errorCode(code)
                        .errorMessage(sentence)
                        .build())
                .statusCode(status)
                .build();
    }
}
