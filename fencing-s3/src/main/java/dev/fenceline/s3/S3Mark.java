package dev.fenceline.s3;

import dev.fenceline.FencingToken;
import java.util.List;
import java.util.UUID;

/**
 * What stands under a key, for people who look at it.
 *
 * @param format how it is stored
 * @param token the newest claim
 * @param writeId of the last write
 * @param replaced the writes before it, the last one first; eight at most
 * @param hasData false when nothing was written yet, or it was deleted
 * @param objects where the data of a pointer lies; empty for an envelope
 */
public record S3Mark(
        S3Format format,
        FencingToken token,
        UUID writeId,
        List<UUID> replaced,
        boolean hasData,
        List<DataObject> objects) {

    /** Copies the lists. */
    public S3Mark {
        replaced = List.copyOf(replaced);
        objects = List.copyOf(objects);
    }

    static S3Mark of(Header header, List<DataObject> objects) {
        return new S3Mark(
                header.format(),
                header.token(),
                header.writeId(),
                header.replaced(),
                header.state() == Header.State.DATA,
                objects);
    }
}
