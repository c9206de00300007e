package dev.fenceline.cli;

import java.net.URI;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;
import software.amazon.awssdk.auth.credentials.AwsBasicCredentials;
import software.amazon.awssdk.auth.credentials.AwsCredentials;
import software.amazon.awssdk.auth.credentials.AwsCredentialsProvider;
import software.amazon.awssdk.auth.credentials.AwsSessionCredentials;
import software.amazon.awssdk.auth.credentials.DefaultCredentialsProvider;
import software.amazon.awssdk.auth.credentials.StaticCredentialsProvider;
import software.amazon.awssdk.core.exception.SdkClientException;
import software.amazon.awssdk.regions.Region;
import software.amazon.awssdk.regions.providers.DefaultAwsRegionProviderChain;
import software.amazon.awssdk.services.s3.S3Client;
import software.amazon.awssdk.services.s3.S3ClientBuilder;

/** How a command reaches a bucket. Keys are found as other programs find them; none is an argument. */
final class S3Options extends ServerOptions {

    private static final Pattern ADDRESS = Pattern.compile("s3://([a-z0-9][a-z0-9.-]{1,61}[a-z0-9])/?");
    private static final Pattern ENDPOINT = Pattern.compile("https?://[^/?#@\\s]+/?");
    private static final String INSTEAD =
            "Set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or use a profile with AWS_PROFILE.";

    @Option(
            names = "--s3-region",
            paramLabel = "REGION",
            order = 89,
            description =
                    "The region; without it AWS_REGION, that of the profile, or us-east-1 where an endpoint is named.")
    private @Nullable String region;

    private @Nullable String endpoint;

    S3Options(Terminal terminal) {
        super(terminal, "--s3", "FENCELINE_S3", INSTEAD);
    }

    @Option(
            names = "--s3",
            paramLabel = "s3://BUCKET",
            order = 87,
            description = "The bucket; without it FENCELINE_S3.")
    void bucket(String text) {
        if (text != null && text.contains("@")) {
            throw refused("A login in --s3");
        }
        if (text != null && !ADDRESS.matcher(text).matches()) {
            throw misunderstood("The address of --s3 is none of a bucket. It reads s3://BUCKET.");
        }
        address(text);
    }

    @Option(
            names = "--s3-endpoint",
            paramLabel = "URL",
            order = 88,
            description =
                    "Another store than that of AWS, such as http://localhost:9000; without it FENCELINE_S3_ENDPOINT.")
    void endpoint(String text) {
        if (text != null && text.contains("@")) {
            throw refused("A login in --s3-endpoint");
        }
        if (text != null && !ENDPOINT.matcher(text).matches()) {
            throw misunderstood(
                    "The address of --s3-endpoint is none of a store. It reads http://HOST[:PORT], or https.");
        }
        endpoint = text;
    }

    @Option(
            names = {"--s3-secret", "--s3-secret-key", "--s3-password"},
            hidden = true,
            arity = "0..1",
            fallbackValue = "")
    void secret(String ignored) {
        refusePassword(ignored);
    }

    /**
     * A bucket and the way to it.
     *
     * @param client is closed with it
     * @param name of the bucket
     */
    record Bucket(S3Client client, String name) implements AutoCloseable {
        @Override
        public void close() {
            client.close();
        }
    }

    /** Sends nothing to the store yet. */
    Bucket connect() {
        String text = address()
                .orElseThrow(() -> Failure.usage("No bucket is named: give --s3 s3://BUCKET, or set FENCELINE_S3."));
        Matcher matcher = ADDRESS.matcher(text);
        if (!matcher.matches()) {
            throw Failure.usage(where() + " is none of a bucket. It reads s3://BUCKET.");
        }
        Optional<String> other = Optional.ofNullable(endpoint).or(() -> terminal.variable("FENCELINE_S3_ENDPOINT"));
        S3ClientBuilder builder =
                S3Client.builder().credentialsProvider(credentials()).region(region(other.isPresent()));
        other.ifPresent(url -> {
            if (!ENDPOINT.matcher(url).matches()) {
                throw Failure.usage(
                        "The address of FENCELINE_S3_ENDPOINT is none of a store. It reads http://HOST[:PORT], or https.");
            }
            // Other stores seldom have a name for each bucket.
            builder.endpointOverride(URI.create(url)).forcePathStyle(true);
        });
        return new Bucket(builder.build(), matcher.group(1));
    }

    private AwsCredentialsProvider credentials() {
        Optional<String> id = terminal.variable("AWS_ACCESS_KEY_ID");
        Optional<String> secret = terminal.variable("AWS_SECRET_ACCESS_KEY");
        if (id.isEmpty() || secret.isEmpty()) {
            return found(DefaultCredentialsProvider.builder().build());
        }
        AwsCredentials credentials = terminal.variable("AWS_SESSION_TOKEN")
                .<AwsCredentials>map(token -> AwsSessionCredentials.create(id.get(), secret.get(), token))
                .orElseGet(() -> AwsBasicCredentials.create(id.get(), secret.get()));
        return StaticCredentialsProvider.create(credentials);
    }

    /** Asked at once: what a request says of it names a dozen places that were searched, and nothing to do. */
    static AwsCredentialsProvider found(AwsCredentialsProvider provider) {
        try {
            AwsCredentials unused = provider.resolveCredentials();
            return provider;
        } catch (SdkClientException e) {
            throw new Failure(
                    Outcome.USAGE,
                    "No credentials for S3 are found. Set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or name a profile that has them"
                            + " with AWS_PROFILE, or run this where the machine has a role. With --verbose it says where it looked.",
                    e);
        }
    }

    private Region region(boolean elsewhere) {
        Optional<String> named = Optional.ofNullable(region)
                .or(() -> terminal.variable("AWS_REGION"))
                .or(() -> terminal.variable("AWS_DEFAULT_REGION"));
        if (named.isPresent()) {
            return Region.of(named.get());
        }
        if (elsewhere) {
            return Region.US_EAST_1;
        }
        try {
            return DefaultAwsRegionProviderChain.builder().build().getRegion();
        } catch (SdkClientException e) {
            throw new Failure(Outcome.USAGE, "No region is named: give --s3-region, or set AWS_REGION.", e);
        }
    }
}
