package dev.fenceline.s3;

/**
 * A document as it was seen in the store, and what the next write of it has to match.
 *
 * @param document what it is
 * @param etag exactly as received
 * @param <P> its payload
 */
record Version<P>(Document<P> document, String etag) {}
