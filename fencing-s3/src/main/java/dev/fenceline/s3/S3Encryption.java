package dev.fenceline.s3;

import java.util.Base64;
import java.util.Objects;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import software.amazon.awssdk.services.s3.model.CreateMultipartUploadRequest;
import software.amazon.awssdk.services.s3.model.GetObjectRequest;
import software.amazon.awssdk.services.s3.model.HeadObjectRequest;
import software.amazon.awssdk.services.s3.model.PutObjectRequest;
import software.amazon.awssdk.services.s3.model.ServerSideEncryption;
import software.amazon.awssdk.services.s3.model.UploadPartRequest;

/**
 * How the store encrypts what is written. Without one, as the bucket says.
 *
 * <p><b>Thread-safety:</b> immutable.
 */
public final class S3Encryption {

    private static final int KEY_BYTES = 32;
    private static final String AES = "AES256";

    private final Optional<ServerSideEncryption> kind;
    private final Optional<String> kmsKey;
    private final Optional<CustomerKey> customerKey;

    private S3Encryption(
            @Nullable ServerSideEncryption kind, @Nullable String kmsKey, @Nullable CustomerKey customerKey) {
        this.kind = Optional.ofNullable(kind);
        this.kmsKey = Optional.ofNullable(kmsKey);
        this.customerKey = Optional.ofNullable(customerKey);
    }

    /** As the bucket says. */
    static S3Encryption none() {
        return new S3Encryption(null, null, null);
    }

    /**
     * With a key of the store's own (SSE-S3).
     *
     * @return the choice
     */
    public static S3Encryption s3() {
        return new S3Encryption(ServerSideEncryption.AES256, null, null);
    }

    /**
     * With a key of the key service (SSE-KMS).
     *
     * @param keyId its id, alias or ARN
     * @return the choice
     * @throws IllegalArgumentException when the id is blank
     */
    public static S3Encryption kms(String keyId) {
        if (keyId.isBlank()) {
            throw new IllegalArgumentException("The id of the KMS key is blank; name the key.");
        }
        return new S3Encryption(ServerSideEncryption.AWS_KMS, keyId, null);
    }

    /**
     * With a key that is sent with each request and kept by nobody else (SSE-C). Whoever reads past the fence has to send it too, and
     * the connection has to be encrypted.
     *
     * @param key 32 bytes
     * @return the choice
     * @throws IllegalArgumentException when the key has another length
     */
    public static S3Encryption customerKey(byte[] key) {
        if (key.length != KEY_BYTES) {
            throw new IllegalArgumentException(
                    "The customer key has " + key.length + " bytes; AES-256 takes " + KEY_BYTES + ".");
        }
        return new S3Encryption(null, null, CustomerKey.of(key));
    }

    void addTo(PutObjectRequest.Builder request) {
        kind.ifPresent(request::serverSideEncryption);
        kmsKey.ifPresent(request::ssekmsKeyId);
        customerKey.ifPresent(key ->
                request.sseCustomerAlgorithm(AES).sseCustomerKey(key.base64()).sseCustomerKeyMD5(key.md5()));
    }

    void addTo(CreateMultipartUploadRequest.Builder request) {
        kind.ifPresent(request::serverSideEncryption);
        kmsKey.ifPresent(request::ssekmsKeyId);
        customerKey.ifPresent(key ->
                request.sseCustomerAlgorithm(AES).sseCustomerKey(key.base64()).sseCustomerKeyMD5(key.md5()));
    }

    void addTo(UploadPartRequest.Builder request) {
        customerKey.ifPresent(key ->
                request.sseCustomerAlgorithm(AES).sseCustomerKey(key.base64()).sseCustomerKeyMD5(key.md5()));
    }

    void addTo(GetObjectRequest.Builder request) {
        customerKey.ifPresent(key ->
                request.sseCustomerAlgorithm(AES).sseCustomerKey(key.base64()).sseCustomerKeyMD5(key.md5()));
    }

    void addTo(HeadObjectRequest.Builder request) {
        customerKey.ifPresent(key ->
                request.sseCustomerAlgorithm(AES).sseCustomerKey(key.base64()).sseCustomerKeyMD5(key.md5()));
    }

    /** Two that have the same key are equal. */
    @Override
    public boolean equals(@Nullable Object other) {
        return other instanceof S3Encryption that
                && kind.equals(that.kind)
                && kmsKey.equals(that.kmsKey)
                && customerKey.equals(that.customerKey);
    }

    @Override
    public int hashCode() {
        return Objects.hash(kind, kmsKey, customerKey);
    }

    /** Says which kind it is, and never the key. */
    @Override
    public String toString() {
        return customerKey.isPresent()
                ? "customer key"
                : kind.map(Object::toString).orElse("as the bucket says");
    }

    /** A record would print the key. */
    private static final class CustomerKey {

        private final String base64;
        private final String md5;

        private CustomerKey(String base64, String md5) {
            this.base64 = base64;
            this.md5 = md5;
        }

        static CustomerKey of(byte[] key) {
            return new CustomerKey(Base64.getEncoder().encodeToString(key), Digests.md5(key));
        }

        @Override
        public boolean equals(@Nullable Object other) {
            return other instanceof CustomerKey that && base64.equals(that.base64);
        }

        @Override
        public int hashCode() {
            return base64.hashCode();
        }

        String base64() {
            return base64;
        }

        String md5() {
            return md5;
        }
    }
}
