package dev.fenceline.s3;

import software.amazon.awssdk.auth.credentials.AwsCredentials;
import software.amazon.awssdk.auth.signer.AwsSignerExecutionAttribute;
import software.amazon.awssdk.awscore.AwsRequestOverrideConfiguration;
import software.amazon.awssdk.core.interceptor.ExecutionAttributes;
import software.amazon.awssdk.core.signer.Signer;
import software.amazon.awssdk.http.SdkHttpFullRequest;
import software.amazon.awssdk.http.auth.aws.signer.AwsV4HttpSigner;
import software.amazon.awssdk.http.auth.spi.signer.SignedRequest;

/**
 * Signs a request and not its body, as the client does by itself over TLS and never over plain HTTP. A store that has to compare the
 * signature of a body reads all of it before it looks at anything else; of the others many look at the condition first.
 *
 * <p>A scheme of authentication, which takes the place of such a signer, cannot be set on a request alone: those of a client's requests are
 * one map, and it would stay in the user's client.
 */
@SuppressWarnings("deprecation") // see above
final class BodyUnsigned implements Signer {

    private BodyUnsigned() {}

    static void on(AwsRequestOverrideConfiguration.Builder request) {
        request.signer(new BodyUnsigned());
    }

    @Override
    public SdkHttpFullRequest sign(SdkHttpFullRequest request, ExecutionAttributes attributes) {
        AwsCredentials credentials = attributes.getAttribute(AwsSignerExecutionAttribute.AWS_CREDENTIALS);
        // The signer goes by the protocol alone, so it is told another one.
        SignedRequest signed = AwsV4HttpSigner.create()
                .sign(sign -> sign.identity(credentials)
                        .request(request.toBuilder()
                                .protocol("https")
                                .port(request.port())
                                .build())
                        .payload(request.contentStreamProvider().orElse(null))
                        .putProperty(AwsV4HttpSigner.SERVICE_SIGNING_NAME, "s3")
                        .putProperty(
                                AwsV4HttpSigner.REGION_NAME,
                                attributes
                                        .getAttribute(AwsSignerExecutionAttribute.SIGNING_REGION)
                                        .id())
                        .putProperty(AwsV4HttpSigner.DOUBLE_URL_ENCODE, false)
                        .putProperty(AwsV4HttpSigner.NORMALIZE_PATH, false)
                        .putProperty(AwsV4HttpSigner.PAYLOAD_SIGNING_ENABLED, false));
        return request.toBuilder().headers(signed.request().headers()).build();
    }
}
