package dev.fenceline.s3;

import java.util.Locale;
import java.util.Optional;
import java.util.regex.Pattern;
import software.amazon.awssdk.awscore.exception.AwsServiceException;

/** What to do about a refusal that lasts. One status stands for many reasons, so it goes by the store's word for the reason. */
final class Remedies {

    private static final int LONGEST_SENTENCE = 300;

    /** Whatever follows a word for it, what stands before the host of an address, and what looks like a key or a signature. */
    private static final Pattern CREDENTIALS =
            Pattern.compile("(?<=(?i:credential=|signature=|token=|secret=|password=|accesskeyid=))[^\\s,;&]+"
                    + "|(?<=://)[^\\s/@]+(?=@)"
                    + "|\\b[A-Z]{4}[A-Z0-9]{12,}\\b"
                    + "|[A-Za-z0-9+/]{32,}={0,2}");

    private Remedies() {}

    static String of(RuntimeException failure) {
        Optional<String> sentence = sentence(failure);
        return remedy(Failures.status(failure), Failures.code(failure), sentence.orElse(""))
                + sentence.map(said -> " The store says: \"" + said + "\"").orElse("");
    }

    private static String remedy(int status, String code, String sentence) {
        String said = sentence.toLowerCase(Locale.ROOT);
        if (said.contains("kms:")) {
            return "Grant this client kms:GenerateDataKey and kms:Decrypt on the key.";
        }
        if (code.startsWith("KMS.")) {
            return "Look at the key that encrypts: it has to be there and enabled, in the region of the bucket.";
        }
        if (code.contains("Encryption") || said.contains("encrypt")) {
            return "Set the encryption that this object was written with, on the fence and on the reader: one that was written"
                    + " without a customer key takes none, and one that was written with it takes that one only.";
        }
        return switch (code) {
            case "SignatureDoesNotMatch" ->
                "Compare the secret key of the client, and whether what stands in front of the store changes requests.";
            case "InvalidAccessKeyId", "InvalidToken" -> "Give the client credentials that this store knows.";
            case "ExpiredToken" -> "Give the client credentials that renew themselves, or fresh ones.";
            case "RequestTimeTooSkewed", "RequestExpired" ->
                "Set the clock of this machine, or that of the store: they differ by more than the store allows.";
            case "KeyTooLongError" -> "Take a shorter key.";
            case "MetadataTooLarge" -> "Write less metadata.";
            case "NotImplemented" -> "Use a store that can do this.";
            case "PermanentRedirect",
                    "TemporaryRedirect",
                    "AuthorizationHeaderMalformed",
                    "IllegalLocationConstraintException" -> "Set the client to the region of the bucket.";
            case "NoSuchBucket", "InvalidBucketName" ->
                "Compare the name of the bucket and the settings of the client.";
            default -> ofStatus(status);
        };
    }

    private static String ofStatus(int status) {
        return switch (status) {
            case 401, 403 ->
                "Grant this client s3:GetObject, s3:PutObject and, on the bucket, s3:ListBucket: without the last a store"
                        + " does not tell a missing object from a forbidden one.";
            case 301, 307 -> "Set the client to the region of the bucket.";
            default -> "Compare the name of the bucket and the settings of the client.";
        };
    }

    /** The first line of what the store said beside its word, without credentials. */
    private static Optional<String> sentence(RuntimeException failure) {
        return failure instanceof AwsServiceException answered && answered.awsErrorDetails() != null
                ? Optional.ofNullable(answered.awsErrorDetails().errorMessage())
                        .flatMap(text -> text.lines().findFirst())
                        .map(line -> CREDENTIALS.matcher(line).replaceAll("***").strip())
                        .filter(line -> !line.isEmpty())
                        .map(Remedies::shortened)
                : Optional.empty();
    }

    private static String shortened(String line) {
        return line.length() <= LONGEST_SENTENCE ? line : line.substring(0, LONGEST_SENTENCE) + "...";
    }
}
