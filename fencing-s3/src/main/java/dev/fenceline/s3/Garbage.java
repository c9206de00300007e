package dev.fenceline.s3;

import java.time.Instant;
import java.util.Optional;

/**
 * Data that no pointer names and none can name any more: its writer was overtaken.
 *
 * @param key where it lies
 * @param size in bytes; zero for an upload in parts that was never finished
 * @param since when it was written or begun, by the store's clock
 * @param uploadId of an unfinished upload; empty for data
 */
public record Garbage(String key, long size, Instant since, Optional<String> uploadId) {}
