package dev.fenceline.s3;

import java.util.Optional;

/** A claim of an object that holds its body itself; see {@link ObjectClaim}. The body has 16 KiB at most. */
public final class EnvelopeClaim extends ObjectClaim {

    private final Session<byte[]> session;

    EnvelopeClaim(Session<byte[]> session) {
        this.session = session;
    }

    @Override
    Session<byte[]> session() {
        return session;
    }

    @Override
    public Optional<S3Content> read() {
        return session.read(seen -> content(seen.document()));
    }

    @Override
    public void write(S3Body body) {
        byte[] bytes = bytes(given(body));
        session.write("Write", document -> document.written(bytes, body.attributes()));
    }

    @Override
    public <X extends Exception> void update(S3Change<X> change) throws X {
        Thrown.<X>carrying(carrier -> session.update("Write", document -> {
            S3Body body = computed(carrier.call(() -> change.of(content(document))));
            return document.written(bytes(body), body.attributes());
        }));
    }

    @Override
    public void delete() {
        session.write(
                "Deletion", document -> document.deleted(Formats.ENVELOPE.nothing(), Formats.ENVELOPE.attributes()));
    }

    private byte[] bytes(S3Body body) {
        byte[] bytes = Bodies.upTo(EnvelopeFormat.MAX_BODY, body);
        if (bytes.length > EnvelopeFormat.MAX_BODY) {
            throw new IllegalArgumentException("Write on " + session.resource() + " refused: the body has more than "
                    + EnvelopeFormat.MAX_BODY
                    + " bytes, which is the most that an envelope holds. Nothing was sent. Take"
                    + " S3Fence.pointer() for this key, from its first write on.");
        }
        return bytes;
    }

    static Optional<S3Content> content(Document<byte[]> document) {
        return document.header().state() == Header.State.DATA
                ? Optional.of(new S3Content(document.payload(), document.attributes(), document.token()))
                : Optional.empty();
    }
}
