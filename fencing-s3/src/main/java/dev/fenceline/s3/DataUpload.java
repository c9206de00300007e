package dev.fenceline.s3;

import dev.fenceline.BackendUnavailableException;
import java.io.IOException;
import java.io.InputStream;
import java.security.MessageDigest;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Supplier;
import software.amazon.awssdk.awscore.AwsRequestOverrideConfiguration;
import software.amazon.awssdk.core.exception.SdkException;
import software.amazon.awssdk.core.sync.RequestBody;
import software.amazon.awssdk.services.s3.model.AbortMultipartUploadRequest;
import software.amazon.awssdk.services.s3.model.CompleteMultipartUploadRequest;
import software.amazon.awssdk.services.s3.model.CompletedPart;
import software.amazon.awssdk.services.s3.model.CreateMultipartUploadRequest;
import software.amazon.awssdk.services.s3.model.HeadObjectRequest;
import software.amazon.awssdk.services.s3.model.PutObjectRequest;
import software.amazon.awssdk.services.s3.model.UploadPartRequest;

/**
 * Sends the data of one new key. Nobody else writes that key, so what is found under it was sent by this; and nobody sees it before a pointer
 * names it, so a failure leaves nothing but rubbish for the clean-up.
 */
final class DataUpload {

    private static final int TRIES = 3;
    private static final int MAX_PARTS = 10_000;
    private static final AwsRequestOverrideConfiguration PLAIN =
            AwsRequestOverrideConfiguration.builder().addPlugin(Plain.BODY).build();

    private final Store store;
    private final FenceSettings settings;
    private final String key;
    private final Attributes attributes;
    private final Interruption interruption;

    DataUpload(Store store, FenceSettings settings, String key, Attributes attributes, Interruption interruption) {
        this.store = store;
        this.settings = settings;
        this.key = key;
        this.attributes = attributes;
        this.interruption = interruption;
    }

    /** One step of an upload, which may be repeated. */
    @FunctionalInterface
    private interface Step {
        void run();
    }

    void whole(byte[] bytes) {
        PutObjectRequest.Builder request = PutObjectRequest.builder()
                .bucket(store.bucket())
                .key(key)
                .ifNoneMatch("*")
                .contentLength((long) bytes.length)
                .contentMD5(Digests.md5(bytes))
                .overrideConfiguration(PLAIN);
        attributes.addTo(request, Optional.empty());
        store.encryption().addTo(request);
        untilThere(bytes.length, () -> store.client().putObject(request.build(), RequestBody.fromBytes(bytes)));
        settings.progress().on(key, bytes.length);
    }

    /** Returns how long it was in all. */
    long inParts(byte[] first, InputStream rest, MessageDigest digest) throws IOException {
        byte[] next = rest.readNBytes(settings.partSize());
        if (next.length == 0) {
            whole(first);
            return first.length;
        }
        String upload = begin();
        try {
            List<CompletedPart> parts = new ArrayList<>();
            long length = 0;
            for (byte[] part = first; part.length > 0; part = next, next = rest.readNBytes(settings.partSize())) {
                parts.add(part(upload, parts.size() + 1, part));
                length += part.length;
                settings.progress().on(key, length);
                if (part != first) {
                    digest.update(part);
                }
            }
            complete(upload, parts, length);
            return length;
        } catch (RuntimeException | IOException | Error e) {
            abandon(upload, e);
            throw e;
        }
    }

    private String begin() {
        CreateMultipartUploadRequest.Builder request =
                CreateMultipartUploadRequest.builder().bucket(store.bucket()).key(key);
        attributes.addTo(request);
        store.encryption().addTo(request);
        // One that was begun and not heard of is found by the clean-up.
        return again(() -> store.client().createMultipartUpload(request.build()).uploadId());
    }

    private CompletedPart part(String upload, int number, byte[] bytes) {
        if (number > MAX_PARTS) {
            throw new IllegalArgumentException(
                    "Write of " + store.resource(key) + " refused: the data has more than " + MAX_PARTS + " parts of "
                            + settings.partSize() + " bytes. Nothing was written; set a larger partSize.");
        }
        UploadPartRequest.Builder request = UploadPartRequest.builder()
                .bucket(store.bucket())
                .key(key)
                .uploadId(upload)
                .partNumber(number)
                .contentLength((long) bytes.length)
                .contentMD5(Digests.md5(bytes))
                .overrideConfiguration(PLAIN);
        store.encryption().addTo(request);
        return again(() -> CompletedPart.builder()
                .partNumber(number)
                .eTag(store.client()
                        .uploadPart(request.build(), RequestBody.fromBytes(bytes))
                        .eTag())
                .build());
    }

    /** A step that may be done twice. */
    private <T> T again(Supplier<T> step) {
        for (int i = 1; ; i++) {
            interruption.note();
            try {
                return step.get();
            } catch (SdkException e) {
                if (i == TRIES || Failures.isSetting(e) || Failures.status(e) == 404) {
                    throw failed(e);
                }
            } catch (RuntimeException e) {
                throw orClosed(e);
            }
        }
    }

    private void complete(String upload, List<CompletedPart> parts, long length) {
        CompleteMultipartUploadRequest request = CompleteMultipartUploadRequest.builder()
                .bucket(store.bucket())
                .key(key)
                .uploadId(upload)
                .ifNoneMatch("*")
                .multipartUpload(all -> all.parts(parts))
                .build();
        untilThere(length, () -> store.client().completeMultipartUpload(request));
    }

    /** A step whose answer was lost may have been done, and then its repetition is refused. */
    private void untilThere(long length, Step step) {
        for (int i = 1; ; i++) {
            interruption.note();
            try {
                step.run();
                return;
            } catch (SdkException e) {
                // Not of a repetition: an upload that is being completed is refused in many ways.
                if (i == 1 && Failures.isSetting(e) && Failures.wasSentOnce(e)) {
                    throw Refusals.setting("Write of data", store.resource(key), e);
                }
                if (isThere(length)) {
                    return;
                }
                if (i == TRIES) {
                    throw failed(e);
                }
            } catch (RuntimeException e) {
                throw orClosed(e);
            }
        }
    }

    private RuntimeException orClosed(RuntimeException e) {
        return Refusals.orClosed("Write of data", store.resource(key), e);
    }

    private boolean isThere(long length) {
        HeadObjectRequest.Builder request =
                HeadObjectRequest.builder().bucket(store.bucket()).key(key);
        store.encryption().addTo(request);
        interruption.note();
        try {
            Long found = store.client().headObject(request.build()).contentLength();
            return found != null && found == length;
        } catch (RuntimeException e) {
            return false;
        }
    }

    private BackendUnavailableException failed(SdkException e) {
        return Refusals.unanswered(
                "Write of data",
                store.resource(key),
                "No pointer names it, so nothing was written that anybody sees; try again under the same claim.",
                e);
    }

    private void abandon(String upload, Throwable why) {
        interruption.note();
        try {
            store.client()
                    .abortMultipartUpload(AbortMultipartUploadRequest.builder()
                            .bucket(store.bucket())
                            .key(key)
                            .uploadId(upload)
                            .build());
        } catch (RuntimeException e) {
            // The clean-up finds it.
            why.addSuppressed(e);
        }
    }
}
