package dev.fenceline.s3;

import java.util.List;
import java.util.Optional;

/** The formats that there are. */
final class Formats {

    static final EnvelopeFormat ENVELOPE = new EnvelopeFormat();
    static final PointerFormat POINTER = new PointerFormat();

    private Formats() {}

    /** Tells in which format an object is, if in any. */
    static Optional<S3Format> of(Look.Found found) {
        return List.of(ENVELOPE, POINTER).stream()
                .filter(format -> isReadable(format, found))
                .<S3Format>map(Format::kind)
                .findFirst();
    }

    private static boolean isReadable(Format<?> format, Look.Found found) {
        try {
            format.decode(found.bytes(), found.attributes());
            return true;
        } catch (IllegalArgumentException e) {
            return false;
        }
    }
}
