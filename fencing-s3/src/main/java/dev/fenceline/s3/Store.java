package dev.fenceline.s3;

import java.io.IOException;
import java.time.Duration;
import java.time.Instant;
import java.util.Objects;
import java.util.Optional;
import java.util.function.Consumer;
import software.amazon.awssdk.awscore.AwsRequestOverrideConfiguration;
import software.amazon.awssdk.core.SdkPlugin;
import software.amazon.awssdk.core.exception.SdkException;
import software.amazon.awssdk.core.sync.RequestBody;
import software.amazon.awssdk.core.sync.ResponseTransformer;
import software.amazon.awssdk.http.AbortableInputStream;
import software.amazon.awssdk.services.s3.S3Client;
import software.amazon.awssdk.services.s3.model.GetObjectRequest;
import software.amazon.awssdk.services.s3.model.GetObjectResponse;
import software.amazon.awssdk.services.s3.model.PutObjectRequest;
import software.amazon.awssdk.services.s3.model.PutObjectResponse;

/**
 * One bucket, as far as documents are concerned: read one whole, write one on a condition.
 *
 * @param client the user's own
 * @param bucket its name
 * @param etags how the store wants to have them back
 * @param encryption of what is written
 */
record Store(S3Client client, String bucket, EtagForm etags, S3Encryption encryption) {

    static Store of(S3Client client, String bucket, EtagForm etags, S3Encryption encryption) {
        return new Store(
                Objects.requireNonNull(client, "The S3Client is null."),
                Objects.requireNonNull(bucket, "The name of the bucket is null."),
                etags,
                encryption);
    }

    String resource(String key) {
        return "S3 object 's3://" + bucket + "/" + key + "'";
    }

    /** Writes a document if the condition holds. */
    <P> Answer put(String key, Format<P> format, Document<P> document, Condition condition, Effort effort) {
        return put(key, format, document, condition, effort, request -> {});
    }

    /** Writes a document if the condition holds, with something more set on the request. */
    <P> Answer put(
            String key,
            Format<P> format,
            Document<P> document,
            Condition condition,
            Effort effort,
            Consumer<AwsRequestOverrideConfiguration.Builder> how) {
        PutObjectRequest.Builder request = PutObjectRequest.builder();
        document.attributes().addTo(request, Optional.of(format.note(document.header())));
        format.contentEncoding().ifPresent(request::contentEncoding);
        encryption.addTo(request);
        byte[] bytes = format.encode(document);
        Sending sending = new Sending();
        condition.addTo(request, etags);
        request.bucket(bucket)
                .key(key)
                .contentLength((long) bytes.length)
                .contentMD5(Digests.md5(bytes))
                .overrideConfiguration(limited(effort.timeout(), Plain.andOnceHeardBy(sending), how));
        try {
            PutObjectResponse answer = client.putObject(request.build(), RequestBody.fromBytes(bytes));
            if (answer.eTag() == null) {
                return new Answer.Unclear(SdkException.create("the answer holds no ETag", null));
            }
            return new Answer.Done(answer.eTag());
        } catch (RuntimeException e) {
            if (!sending.hasBegun() && Failures.isClosed(e)) {
                throw Refusals.closed("Write", resource(key), e);
            }
            // Else of the user's own interceptor, or of a client that was closed meanwhile: it may have been sent
            // before.
            return e instanceof SdkException said ? answer(key, said) : new Answer.Unclear(e);
        } finally {
            effort.noteInterruption();
        }
    }

    private Answer answer(String key, SdkException e) {
        boolean once = Failures.wasSentOnce(e);
        if (once && Failures.isSetting(e)) {
            throw Refusals.setting("Write", resource(key), e);
        }
        return switch (Failures.status(e)) {
            case 409 -> once ? new Answer.Conflict(e) : new Answer.Unclear(e);
            case 404, 412 -> once ? new Answer.Refused(e) : new Answer.Unclear(e);
            default -> new Answer.Unclear(e);
        };
    }

    /** Reads a document whole. What is too large for one is read only so far. */
    Look get(String key, Effort effort) throws Unanswered {
        GetObjectRequest.Builder request =
                GetObjectRequest.builder().bucket(bucket).key(key).overrideConfiguration(once(effort.timeout()));
        encryption.addTo(request);
        try {
            return client.getObject(request.build(), ResponseTransformer.unmanaged(Store::whole));
        } catch (RuntimeException e) {
            if (Failures.isClosed(e)) {
                throw Refusals.closed("Read", resource(key), e);
            }
            if (Failures.isSetting(e)) {
                throw Refusals.setting("Read", resource(key), e);
            }
            if (Failures.status(e) == 404) {
                return new Look(Optional.empty(), Failures.date(e));
            }
            throw new Unanswered(e);
        } finally {
            effort.noteInterruption();
        }
    }

    private static Look whole(GetObjectResponse answer, AbortableInputStream body) throws IOException {
        byte[] bytes;
        try (body) {
            bytes = body.readNBytes(PointerFormat.MAX_DOCUMENT + 1);
            if (bytes.length > PointerFormat.MAX_DOCUMENT) {
                body.abort();
            }
        }
        Optional<Instant> date = Failures.date(answer.sdkHttpResponse());
        return new Look(
                Optional.of(new Look.Found(
                        bytes,
                        Optional.ofNullable(answer.eTag()).orElse(""),
                        Optional.ofNullable(answer.contentEncoding()),
                        Attributes.of(answer))),
                date);
    }

    static AwsRequestOverrideConfiguration once(Duration timeout) {
        return limited(timeout, Plain.AND_ONCE, request -> {});
    }

    private static AwsRequestOverrideConfiguration limited(
            Duration timeout, SdkPlugin plain, Consumer<AwsRequestOverrideConfiguration.Builder> how) {
        AwsRequestOverrideConfiguration.Builder request = AwsRequestOverrideConfiguration.builder()
                .apiCallTimeout(timeout)
                .addPlugin(plain);
        how.accept(request);
        return request.build();
    }
}
