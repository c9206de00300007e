package dev.fenceline.examples.pausedwriter;

/**
 * An accepted write.
 *
 * @param balanceCents the balance that was written
 * @param baseVersion the version that the writer had read
 * @param replacedVersion the version that it replaced in fact
 */
record Written(long balanceCents, long baseVersion, long replacedVersion) {}
