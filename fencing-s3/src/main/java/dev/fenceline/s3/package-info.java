/**
 * The fence in S3: an object that refuses a writer whose token was overtaken. Start at {@link dev.fenceline.s3.S3Fence}.
 *
 * <p>What is stored, byte by byte, stands in {@code docs/s3-format.md}.
 */
@NullMarked
package dev.fenceline.s3;

import org.jspecify.annotations.NullMarked;
