package dev.fenceline.s3;

/** How a fenced object is stored. */
public enum S3Format {
    /** The body itself, as gzip that carries the mark in its header. */
    ENVELOPE("envelope"),
    /** A small document that names where the data lies. */
    POINTER("pointer");

    private final String word;

    S3Format(String word) {
        this.word = word;
    }

    /** What it is called in the first line of a header. */
    String word() {
        return word;
    }
}
