package dev.fenceline.s3;

import java.util.List;
import software.amazon.awssdk.core.SdkPlugin;
import software.amazon.awssdk.core.SdkServiceClientConfiguration;
import software.amazon.awssdk.core.checksums.RequestChecksumCalculation;
import software.amazon.awssdk.core.client.config.ClientOverrideConfiguration;
import software.amazon.awssdk.core.interceptor.ExecutionInterceptor;
import software.amazon.awssdk.http.auth.aws.signer.AwsV4HttpSigner;
import software.amazon.awssdk.http.auth.spi.scheme.AuthSchemeOption;
import software.amazon.awssdk.retries.DefaultRetryStrategy;
import software.amazon.awssdk.services.s3.S3ServiceClientConfiguration;
import software.amazon.awssdk.services.s3.auth.scheme.S3AuthSchemeParams;
import software.amazon.awssdk.services.s3.auth.scheme.S3AuthSchemeProvider;

/**
 * What is set on a single request, whatever the client's own settings are.
 *
 * <p>The body goes over the wire as it is. Else the client frames it ({@code Content-Encoding: aws-chunked}) to append a checksum or a signature,
 * and there are stores that keep that word, or the frames, as part of the object; Content-MD5 proves the same. And a conditional write is
 * sent once: the client's own retry of one that had happened is answered with 412, as if somebody else had been first.
 */
final class Plain {

    /** Sent as it is. */
    static final SdkPlugin BODY = Plain::body;

    /** Sent as it is, and once. */
    static final SdkPlugin AND_ONCE = once(List.of());

    private Plain() {}

    /** Sent as it is, and once; and it is heard of. */
    static SdkPlugin andOnceHeardBy(ExecutionInterceptor hearing) {
        return once(List.of(hearing));
    }

    /** One plugin and not one for each purpose, since with each the client settles its whole configuration anew. */
    private static SdkPlugin once(List<ExecutionInterceptor> hearing) {
        return config -> {
            body(config);
            ClientOverrideConfiguration.Builder override =
                    config.overrideConfiguration().toBuilder().retryStrategy(DefaultRetryStrategy.doNotRetry());
            hearing.forEach(override::addExecutionInterceptor);
            config.overrideConfiguration(override.build());
        };
    }

    private static void body(SdkServiceClientConfiguration.Builder config) {
        S3ServiceClientConfiguration.Builder s3 = (S3ServiceClientConfiguration.Builder) config;
        s3.requestChecksumCalculation(RequestChecksumCalculation.WHEN_REQUIRED);
        s3.authSchemeProvider(new Unchunked(s3.authSchemeProvider()));
    }

    private record Unchunked(S3AuthSchemeProvider chosen) implements S3AuthSchemeProvider {

        @Override
        public List<AuthSchemeOption> resolveAuthScheme(S3AuthSchemeParams params) {
            return chosen.resolveAuthScheme(params).stream()
                    .map(option -> option.toBuilder()
                            .putSignerProperty(AwsV4HttpSigner.CHUNK_ENCODING_ENABLED, false)
                            .build())
                    .toList();
        }
    }
}
