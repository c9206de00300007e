package dev.fenceline.s3;

import java.io.IOException;

/** Data came whole, and is not what was written. */
final class Altered extends IOException {

    private static final long serialVersionUID = 1L;

    private final String found;
    private final String written;

    Altered(DataObject object, long length, String sha256) {
        super("'" + object.key() + "' came with " + text(length, sha256) + ", and was written with "
                + text(object.length(), object.sha256()));
        this.found = text(length, sha256);
        this.written = text(object.length(), object.sha256());
    }

    private static String text(long length, String sha256) {
        return length + " bytes and SHA-256 " + sha256;
    }

    /** What came. */
    String found() {
        return found;
    }

    /** What the pointer says. */
    String written() {
        return written;
    }
}
