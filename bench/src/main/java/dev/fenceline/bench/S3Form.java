package dev.fenceline.bench;

import java.util.Optional;

/** What is done to an object, with the fence and without. */
enum S3Form {
    PUT("plain PUT"),
    /** What the store by itself takes for the condition that a fence needs. */
    CONDITIONAL("PUT with If-Match"),
    WRITE("fenced write, ETag cached"),
    CLAIM("claim"),
    STALE("write that is refused as stale"),
    GET("plain GET"),
    READ("fenced read");

    private final String label;

    S3Form(String label) {
        this.label = label;
    }

    String label() {
        return label;
    }

    /** What it is compared with. */
    S3Form plain() {
        return this == GET || this == READ ? GET : PUT;
    }

    /** How often it may take the time of the plain one, where that is promised. */
    Optional<Double> limit(boolean inOneObject) {
        return this == WRITE && inOneObject ? Optional.of(1.1) : Optional.empty();
    }
}
