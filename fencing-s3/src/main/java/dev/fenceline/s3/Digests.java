package dev.fenceline.s3;

import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Base64;
import java.util.HexFormat;

/** What proves that bytes have arrived as they were sent. */
final class Digests {

    private Digests() {}

    /** As in a Content-MD5 header: against faults of the way, not against an attacker. */
    static String md5(byte[] bytes) {
        return md5(bytes, bytes.length);
    }

    static String md5(byte[] bytes, int length) {
        MessageDigest digest = of("MD5");
        digest.update(bytes, 0, length);
        return Base64.getEncoder().encodeToString(digest.digest());
    }

    static MessageDigest sha256() {
        return of("SHA-256");
    }

    static String hex(MessageDigest digest) {
        return HexFormat.of().formatHex(digest.digest());
    }

    private static MessageDigest of(String name) {
        try {
            return MessageDigest.getInstance(name);
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("Every Java has " + name + ".", e);
        }
    }
}
