package dev.fenceline.s3;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.zip.CRC32;
import java.util.zip.DataFormatException;
import java.util.zip.Inflater;

/**
 * The body of the object in one gzip member, whose header carries the mark in its extra field (RFC 1952, 2.3.1.1).
 *
 * <p>One member and not two: several readers stop after an empty first one. Written by hand, since the JDK's writer knows no extra
 * field; and as one stored block (decision 0038), which {@link #MAX_BODY} fits into. However another writer has packed it, it is read.
 */
final class EnvelopeFormat implements Format<byte[]> {

    /** The longest body. What is larger is no longer small beside the round trip, and is written twice by each claim. */
    static final int MAX_BODY = 16 * 1024;

    private static final int MAX_EXTRA = 4 * 1024;
    private static final int FIXED = 12;
    private static final int TRAILER = 8;
    // RFC 1951, 3.2.4: the last block and a stored one, its length, and that again with each bit turned.
    private static final byte STORED = 1;
    private static final int STORED_HEAD = 5;
    // The letters F and L.
    private static final short SUBFIELD = 'F' | 'L' << 8;
    // Compression 8 is deflate; of the flags only the one for the extra field; no time; no system.
    private static final byte[] BEGIN = {0x1f, (byte) 0x8b, 8, 4, 0, 0, 0, 0, 0, (byte) 255};

    @Override
    public S3Format kind() {
        return S3Format.ENVELOPE;
    }

    @Override
    public byte[] nothing() {
        return new byte[0];
    }

    @Override
    public Attributes attributes() {
        return Attributes.none();
    }

    @Override
    public Optional<String> contentEncoding() {
        return Optional.of("gzip");
    }

    @Override
    public byte[] encode(Document<byte[]> document) {
        byte[] header = document.header().text().getBytes(StandardCharsets.UTF_8);
        byte[] body = document.payload();
        CRC32 crc = new CRC32();
        crc.update(body);
        return ByteBuffer.allocate(FIXED + 4 + header.length + STORED_HEAD + body.length + TRAILER)
                .order(ByteOrder.LITTLE_ENDIAN)
                .put(BEGIN)
                .putShort((short) (4 + header.length))
                .putShort(SUBFIELD)
                .putShort((short) header.length)
                .put(header)
                .put(STORED)
                .putShort((short) body.length)
                .putShort((short) ~body.length)
                .put(body)
                .putInt((int) crc.getValue())
                .putInt(body.length)
                .array();
    }

    @Override
    public Document<byte[]> decode(byte[] bytes, Attributes attributes) {
        ByteBuffer in = ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
        if (bytes.length < FIXED + TRAILER || !Arrays.equals(bytes, 0, 4, BEGIN, 0, 4)) {
            throw new IllegalArgumentException("it is no gzip with an extra field");
        }
        in.position(BEGIN.length);
        Header header = header(extra(in));
        if (header.format() != S3Format.ENVELOPE) {
            throw new IllegalArgumentException(
                    "the mark in it is of the format '" + header.format().word() + "'");
        }
        byte[] body = inflate(in);
        return new Document<>(header, body, attributes);
    }

    private static ByteBuffer extra(ByteBuffer in) {
        int length = Short.toUnsignedInt(in.getShort());
        if (length > MAX_EXTRA || length > in.remaining() - TRAILER) {
            throw new IllegalArgumentException("its extra field has " + length + " bytes; at most "
                    + Math.min(MAX_EXTRA, in.remaining() - TRAILER) + " are possible here");
        }
        ByteBuffer extra = in.slice(in.position(), length).order(ByteOrder.LITTLE_ENDIAN);
        in.position(in.position() + length);
        return extra;
    }

    private static Header header(ByteBuffer extra) {
        while (extra.remaining() >= 4) {
            short id = extra.getShort();
            int length = Short.toUnsignedInt(extra.getShort());
            if (length > extra.remaining()) {
                break;
            }
            if (id == SUBFIELD) {
                byte[] text = new byte[length];
                extra.get(text);
                List<String> lines = Lines.of(text);
                if (lines.size() != 7) {
                    throw new IllegalArgumentException("its mark has " + lines.size() + " lines in place of 7");
                }
                return Header.parse(lines.iterator());
            }
            extra.position(extra.position() + length);
        }
        throw new IllegalArgumentException("it carries no mark");
    }

    private static byte[] inflate(ByteBuffer in) {
        Inflater inflater = new Inflater(true);
        try {
            inflater.setInput(in);
            byte[] body = new byte[MAX_BODY + 1];
            int length = 0;
            while (!inflater.finished() && length < body.length) {
                int more = inflater.inflate(body, length, body.length - length);
                if (more == 0 && (inflater.needsInput() || inflater.needsDictionary())) {
                    throw new IllegalArgumentException("its data was cut off");
                }
                length += more;
            }
            if (length > MAX_BODY) {
                throw new IllegalArgumentException("its body is longer than " + MAX_BODY + " bytes");
            }
            if (in.remaining() != TRAILER) {
                throw new IllegalArgumentException("something follows its data, or its end was cut off");
            }
            CRC32 crc = new CRC32();
            crc.update(body, 0, length);
            if (in.getInt() != (int) crc.getValue() || in.getInt() != length) {
                throw new IllegalArgumentException("its checksum is not that of its data");
            }
            return Arrays.copyOf(body, length);
        } catch (DataFormatException e) {
            throw new IllegalArgumentException("its data cannot be unpacked", e);
        } finally {
            inflater.end();
        }
    }
}
