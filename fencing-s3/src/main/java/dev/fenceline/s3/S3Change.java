package dev.fenceline.s3;

import java.util.Optional;

/**
 * Computes what is written from what is there.
 *
 * @param <X> what it may throw
 */
@FunctionalInterface
public interface S3Change<X extends Exception> {

    /**
     * Computes. May be called again, when another session of the same claim has written meanwhile.
     *
     * @param content empty when nothing was written yet, or it was deleted
     * @return what is to be written
     * @throws X comes out as it is; nothing is written then
     */
    S3Body of(Optional<S3Content> content) throws X;
}
