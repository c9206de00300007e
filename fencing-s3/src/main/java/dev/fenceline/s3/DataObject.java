package dev.fenceline.s3;

/**
 * One object that a pointer names: where its data lies and what it must be. Good for a presigned read, as the data under one key
 * never changes.
 *
 * @param name what the writer called it
 * @param key where the data lies, in the bucket of the pointer
 * @param length in bytes
 * @param sha256 of the data, as 64 hexadecimal digits
 */
public record DataObject(String name, String key, long length, String sha256) {}
