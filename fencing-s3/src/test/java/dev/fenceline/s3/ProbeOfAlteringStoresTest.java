package dev.fenceline.s3;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.fenceline.BackendMisconfiguredException;
import dev.fenceline.Finding;
import dev.fenceline.testkit.S3Server;
import dev.fenceline.testkit.SharedServers;
import java.io.ByteArrayInputStream;
import java.io.InputStream;
import java.util.Optional;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import software.amazon.awssdk.core.interceptor.Context;
import software.amazon.awssdk.core.interceptor.ExecutionAttributes;
import software.amazon.awssdk.core.interceptor.ExecutionInterceptor;
import software.amazon.awssdk.http.SdkHttpMethod;
import software.amazon.awssdk.http.SdkHttpResponse;
import software.amazon.awssdk.services.s3.S3Client;

/** Something between the client and an atomic store that changes what comes back, as gateways and caches do. */
@Tag("server")
@Tag("s3proxy")
class ProbeOfAlteringStoresTest {

    static Stream<Arguments> alterations() {
        return Stream.of(
                Arguments.of("s3-no-date", headers(answer -> answer.removeHeader("Date"))),
                Arguments.of(
                        "s3-encoding-changed",
                        headers(answer -> answer.putHeader("Content-Encoding", "gzip,aws-chunked"))),
                Arguments.of("s3-metadata-lost", headers(answer -> answer.removeHeader("x-amz-meta-fenceline-probe"))),
                Arguments.of("s3-if-match-refused", headers(answer -> answer.putHeader("ETag", "\"always the same\""))),
                Arguments.of(
                        "s3-etag-of-write",
                        new Altering(
                                SdkHttpMethod.PUT,
                                answer -> answer.putHeader("ETag", "\"of the write\""),
                                Optional.empty())),
                Arguments.of(
                        "s3-bytes-changed",
                        new Altering(SdkHttpMethod.GET, UnaryOperator.identity(), Optional.of(new byte[] {1}))));
    }

    private static Altering headers(UnaryOperator<SdkHttpResponse.Builder> change) {
        return new Altering(SdkHttpMethod.GET, change, Optional.empty());
    }

    /** Changes the answers to requests of one method. */
    private record Altering(SdkHttpMethod method, UnaryOperator<SdkHttpResponse.Builder> headers, Optional<byte[]> body)
            implements ExecutionInterceptor {

        @Override
        public SdkHttpResponse modifyHttpResponse(Context.ModifyHttpResponse context, ExecutionAttributes attributes) {
            return context.httpRequest().method() == method
                    ? headers.apply(context.httpResponse().toBuilder()).build()
                    : context.httpResponse();
        }

        @Override
        public Optional<InputStream> modifyHttpResponseContent(
                Context.ModifyHttpResponse context, ExecutionAttributes attributes) {
            boolean isObject = context.httpRequest().method() == method
                    && context.httpResponse().statusCode() == 200;
            return isObject && body.isPresent() ? body.map(ByteArrayInputStream::new) : context.responseBody();
        }
    }

    @ParameterizedTest
    @MethodSource("alterations")
    void isRefusedForWhatItChanges(String code, ExecutionInterceptor altering) {
        S3Server server = SharedServers.s3();
        try (S3Client client = TestStore.client(
                server,
                server.endpoint(),
                builder -> builder.overrideConfiguration(o -> o.addExecutionInterceptor(altering)))) {
            String bucket = server.newBucket();
            S3ProbeReport report = S3Probe.of(client, bucket).run();
            assertThat(report.findings()).extracting(Finding::code).containsExactly(code);
            assertThatThrownBy(() -> S3Fence.envelope().probed(report).on(client, bucket))
                    .isInstanceOf(BackendMisconfiguredException.class)
                    .hasMessageContaining(report.findings().get(0).found())
                    .hasMessageContaining(report.findings().get(0).remedy());
        }
    }
}
