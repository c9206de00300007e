package dev.fenceline.testkit;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.IntStream;
import org.gaul.s3proxy.S3ErrorCode;
import org.gaul.s3proxy.S3ProxyException;
import org.gaul.s3proxy.blobstore.BlobStore;
import org.gaul.s3proxy.blobstore.ForwardingBlobStore;
import org.gaul.s3proxy.blobstore.domain.MultipartUpload;
import org.jspecify.annotations.Nullable;
import software.amazon.awssdk.services.s3.model.CompleteMultipartUploadRequest;
import software.amazon.awssdk.services.s3.model.CompleteMultipartUploadResponse;
import software.amazon.awssdk.services.s3.model.CopyObjectRequest;
import software.amazon.awssdk.services.s3.model.CopyObjectResponse;
import software.amazon.awssdk.services.s3.model.DeleteObjectRequest;
import software.amazon.awssdk.services.s3.model.DeleteObjectResponse;
import software.amazon.awssdk.services.s3.model.HeadObjectResponse;
import software.amazon.awssdk.services.s3.model.PutObjectRequest;
import software.amazon.awssdk.services.s3.model.PutObjectResponse;

/**
 * Makes {@code If-Match} atomic. S3Proxy compares the ETag and then writes, and two writers that both compared before either
 * wrote both succeed. Here every change of a key holds the lock of that key, and the ETag is compared once more under it.
 */
final class AtomicBlobStore extends ForwardingBlobStore {

    private static final int STRIPES = 64;

    /** Striped: two keys that share a lock wait for one another, and are decided no differently. */
    private final Object[] locks =
            IntStream.range(0, STRIPES).mapToObj(i -> new Object()).toArray();

    private final Map<String, S3History> histories = new ConcurrentHashMap<>();

    AtomicBlobStore(BlobStore store) {
        super(store);
    }

    S3History watch(String bucket, String key) {
        return histories.computeIfAbsent(name(bucket, key), any -> new S3History());
    }

    @Override
    public PutObjectResponse putBlob(PutObjectRequest request, InputStream payload) {
        // Read before the lock is taken, or a client that stops in the middle of its body would hold up all others.
        byte[] body = read(payload);
        String name = name(request.bucket(), request.key());
        synchronized (lock(name)) {
            String expected = request.ifMatch();
            if (expected != null) {
                requireMatch(expected, blobMetadataIfPresent(request.bucket(), request.key()));
            }
            PutObjectResponse response = super.putBlob(request, new ByteArrayInputStream(body));
            S3History history = histories.get(name);
            if (history != null) {
                history.add(body);
            }
            return response;
        }
    }

    private static void requireMatch(String expected, @Nullable HeadObjectResponse current) {
        if (current == null) {
            throw new S3ProxyException(S3ErrorCode.NO_SUCH_KEY);
        }
        if (!expected.equals("*") && !unquoted(expected).equals(unquoted(current.eTag()))) {
            throw new S3ProxyException(S3ErrorCode.PRECONDITION_FAILED);
        }
    }

    @Override
    public CopyObjectResponse copyBlob(CopyObjectRequest request) {
        synchronized (lock(name(request.destinationBucket(), request.destinationKey()))) {
            return super.copyBlob(request);
        }
    }

    @Override
    public DeleteObjectResponse removeBlob(DeleteObjectRequest request) {
        synchronized (lock(name(request.bucket(), request.key()))) {
            return super.removeBlob(request);
        }
    }

    @Override
    public CompleteMultipartUploadResponse completeMultipartUpload(
            MultipartUpload upload, CompleteMultipartUploadRequest request) {
        synchronized (lock(name(request.bucket(), request.key()))) {
            return super.completeMultipartUpload(upload, request);
        }
    }

    private Object lock(String name) {
        return locks[Math.floorMod(name.hashCode(), STRIPES)];
    }

    /** A bucket's name has no slash, so no two objects share a name. */
    private static String name(String bucket, String key) {
        return bucket + "/" + key;
    }

    private static String unquoted(String etag) {
        return etag.replace("\"", "");
    }

    private static byte[] read(InputStream payload) {
        try {
            return payload.readAllBytes();
        } catch (IOException e) {
            throw new UncheckedIOException("The body of a write ended early.", e);
        }
    }
}
