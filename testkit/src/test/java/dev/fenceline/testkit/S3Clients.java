package dev.fenceline.testkit;

import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import software.amazon.awssdk.auth.credentials.AwsBasicCredentials;
import software.amazon.awssdk.auth.credentials.StaticCredentialsProvider;
import software.amazon.awssdk.core.checksums.RequestChecksumCalculation;
import software.amazon.awssdk.core.sync.RequestBody;
import software.amazon.awssdk.http.apache5.Apache5HttpClient;
import software.amazon.awssdk.regions.Region;
import software.amazon.awssdk.retries.DefaultRetryStrategy;
import software.amazon.awssdk.services.s3.S3Client;
import software.amazon.awssdk.services.s3.S3ClientBuilder;
import software.amazon.awssdk.services.s3.model.PutObjectRequest;
import software.amazon.awssdk.services.s3.model.S3Exception;

/** Clients that send each request once, and what tests say through them. */
final class S3Clients {

    private S3Clients() {}

    static S3Client of(S3Server server) {
        return of(server, server.endpoint(), Duration.ofSeconds(30));
    }

    /** For a store that takes no checksum behind a body, which the client's defaults append. */
    static S3Client withoutChecksums(S3Server server) {
        return builder(server, server.endpoint(), Duration.ofSeconds(30))
                .requestChecksumCalculation(RequestChecksumCalculation.WHEN_REQUIRED)
                .build();
    }

    static S3Client of(S3Server server, URI endpoint, Duration patience) {
        return builder(server, endpoint, patience).build();
    }

    private static S3ClientBuilder builder(S3Server server, URI endpoint, Duration patience) {
        return S3Client.builder()
                .endpointOverride(endpoint)
                .region(Region.of(server.region()))
                .forcePathStyle(true)
                .credentialsProvider(StaticCredentialsProvider.create(
                        AwsBasicCredentials.create(server.accessKey(), server.secretKey())))
                .httpClientBuilder(
                        Apache5HttpClient.builder().maxConnections(32).socketTimeout(patience))
                .overrideConfiguration(o -> o.retryStrategy(DefaultRetryStrategy.doNotRetry()));
    }

    static PutObjectRequest.Builder put(String bucket, String key) {
        return PutObjectRequest.builder().bucket(bucket).key(key);
    }

    static RequestBody body(String text) {
        return RequestBody.fromString(text, StandardCharsets.UTF_8);
    }

    static String read(S3Client client, String bucket, String key) {
        return client.getObjectAsBytes(get -> get.bucket(bucket).key(key)).asUtf8String();
    }

    /** The status of the answer, 200 if the request was carried out. */
    static int status(Runnable request) {
        try {
            request.run();
            return 200;
        } catch (S3Exception e) {
            return e.statusCode();
        }
    }
}
