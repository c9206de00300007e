package dev.fenceline.s3;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.fenceline.FencingToken;
import dev.fenceline.LockName;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.Random;
import java.util.UUID;
import java.util.zip.Deflater;
import java.util.zip.DeflaterOutputStream;
import java.util.zip.GZIPInputStream;
import java.util.zip.GZIPOutputStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class EnvelopeFormatTest {

    static final FencingToken TOKEN = new FencingToken(
            LockName.of("report", "ä:1"),
            1_764_493_000_000_000L,
            UUID.fromString("00112233-4455-6677-8899-aabbccddeeff"));
    static final UUID WRITE = UUID.fromString("0f0e0d0c-0b0a-0908-0706-050403020100");

    private final EnvelopeFormat format = new EnvelopeFormat();

    static Header header(S3Format format, int replaced, Header.State state) {
        List<UUID> ids = new java.util.ArrayList<>();
        for (int i = 1; i <= replaced; i++) {
            ids.add(new UUID(0, i));
        }
        return new Header(format, TOKEN, WRITE, ids, state);
    }

    private static Document<byte[]> document(byte[] body) {
        return new Document<>(header(S3Format.ENVELOPE, 2, Header.State.DATA), body, Attributes.none());
    }

    @Test
    void theMarkIsTheTextOfTheSpecification() {
        assertThat(header(S3Format.ENVELOPE, 2, Header.State.DATA).text()).isEqualTo("""
                fenceline 1 envelope
                lock report:ä%3A1
                token 1764493000000000
                holder 00112233445566778899aabbccddeeff
                write 0f0e0d0c0b0a09080706050403020100
                replaced 00000000000000000000000000000001 00000000000000000000000000000002
                state data
                """);
        assertThat(header(S3Format.POINTER, 0, Header.State.NONE).text())
                .startsWith("fenceline 1 pointer\n")
                .endsWith("\nreplaced\nstate none\n");
    }

    @Test
    void whatIsWrittenIsReadAgainByUsAndByTheJdk() throws IOException {
        Random random = new Random(42);
        for (int length : new int[] {0, 1, 100, 5_000, 16 * 1024}) {
            byte[] body = new byte[length];
            random.nextBytes(body);
            byte[] bytes = format.encode(document(body));
            Document<byte[]> read = format.decode(bytes, Attributes.none());
            assertThat(read.header()).isEqualTo(document(body).header());
            assertThat(read.payload()).isEqualTo(body);
            assertThat(new GZIPInputStream(new ByteArrayInputStream(bytes)).readAllBytes())
                    .isEqualTo(body);
        }
    }

    /** A writer in another language may pack it: in stored blocks, with the fixed codes, or with codes of its own. */
    @ParameterizedTest
    @ValueSource(ints = {Deflater.NO_COMPRESSION, Deflater.BEST_SPEED, Deflater.BEST_COMPRESSION})
    void howeverABodyIsPackedItIsRead(int level) throws IOException {
        byte[] few = "some text, some text, some text".getBytes(StandardCharsets.UTF_8);
        assertThat(read(few, level, Blocks.EACH_BYTE)).isEqualTo(few);
        byte[] most = "Some more text, of which there is so much that codes of its own pay. "
                .repeat(300)
                .substring(0, EnvelopeFormat.MAX_BODY)
                .getBytes(StandardCharsets.UTF_8);
        assertThat(read(most, level, Blocks.ONE)).isEqualTo(most);
    }

    private enum Blocks {
        ONE,
        EACH_BYTE
    }

    /** What is read of the body once another writer has packed it. */
    private byte[] read(byte[] body, int level, Blocks blocks) throws IOException {
        byte[] stored = format.encode(document(body));
        int packedAt = stored.length - 8 - body.length - 5;
        ByteArrayOutputStream packed = new ByteArrayOutputStream();
        packed.write(stored, 0, packedAt);
        Deflater deflater = new Deflater(level, true);
        DeflaterOutputStream packing = new DeflaterOutputStream(packed, deflater, true);
        for (byte each : body) {
            packing.write(each);
            if (blocks == Blocks.EACH_BYTE) {
                packing.flush();
            }
        }
        packing.finish();
        deflater.end();
        packed.write(stored, stored.length - 8, 8);
        return format.decode(packed.toByteArray(), Attributes.none()).payload();
    }

    /** Of the way that a release of Java packs a body nothing is to be seen: the same write is the same bytes wherever it is sent from. */
    @Test
    void aBodyIsOneStoredBlock() {
        byte[] bytes = format.encode(document("abc".getBytes(StandardCharsets.UTF_8)));
        assertThat(HexFormat.of().formatHex(bytes, bytes.length - 16, bytes.length))
                .isEqualTo("01" + "0300" + "fcff" + "616263" + "c2412435" + "03000000");
    }

    @Test
    void theSameContentUnderAnotherWriteIsOtherBytes() {
        Document<byte[]> first = document("same".getBytes(StandardCharsets.UTF_8));
        assertThat(format.encode(first.bumped())).isNotEqualTo(format.encode(first));
        assertThat(first.bumped().header().replaced()).startsWith(WRITE);
    }

    @Test
    void theLongestMarkFitsIntoTheExtraField() {
        LockName longest = LockName.of("x".repeat(64), "y".repeat(447));
        Header header = new Header(
                S3Format.ENVELOPE,
                new FencingToken(longest, FencingToken.VALUE_LIMIT - 1, UUID.randomUUID()),
                UUID.randomUUID(),
                header(S3Format.ENVELOPE, Header.REMEMBERED, Header.State.DATA).replaced(),
                Header.State.DATA);
        byte[] bytes = format.encode(new Document<>(header, new byte[0], Attributes.none()));
        int extra = (bytes[10] & 0xff) | (bytes[11] & 0xff) << 8;
        assertThat(longest.toString()).hasSize(LockName.MAX_BYTES);
        assertThat(extra).isLessThanOrEqualTo(4096);
        assertThat(format.decode(bytes, Attributes.none()).header()).isEqualTo(header);
        assertThat(header.next(Header.State.DATA).replaced())
                .hasSize(Header.REMEMBERED)
                .startsWith(header.writeId());
    }

    @Test
    void bytesThatWereCutOffOrChangedAreNoEnvelope() {
        byte[] bytes = format.encode(document("some text, some text, some text".getBytes(StandardCharsets.UTF_8)));
        for (int length = 0; length < bytes.length; length++) {
            byte[] cut = Arrays.copyOf(bytes, length);
            assertThatThrownBy(() -> format.decode(cut, Attributes.none()))
                    .as("%d of %d bytes", length, bytes.length)
                    .isInstanceOf(IllegalArgumentException.class);
        }
        // Not the time, the system and the compression level, which gzip lets anybody write.
        List<Integer> free = List.of(4, 5, 6, 7, 8, 9);
        for (int at = 0; at < bytes.length; at++) {
            byte[] changed = bytes.clone();
            changed[at] ^= 1;
            if (!free.contains(at)) {
                Object read = readable(changed);
                assertThat(read).as("byte %d changed", at).isNotEqualTo(readable(bytes));
            }
        }
    }

    /** The mark and the body as text; nothing if it is no envelope. */
    private String readable(byte[] bytes) {
        try {
            Document<byte[]> document = format.decode(bytes, Attributes.none());
            return document.header().text() + new String(document.payload(), StandardCharsets.UTF_8);
        } catch (IllegalArgumentException e) {
            return "";
        }
    }

    @Test
    void otherGzipsAreToldByWhatTheyLack() throws IOException {
        ByteArrayOutputStream plain = new ByteArrayOutputStream();
        try (GZIPOutputStream gzip = new GZIPOutputStream(plain)) {
            gzip.write(1);
        }
        assertUnreadable(plain.toByteArray(), "it is no gzip with an extra field");
        byte[] bytes = format.encode(document(new byte[] {1}));
        byte[] foreign = bytes.clone();
        foreign[12] = 'X';
        assertUnreadable(foreign, "it carries no mark");
        assertUnreadable(replaced(bytes, "fenceline 1", "fenceline 2"), "it has version 2 of the format");
        assertUnreadable(replaced(bytes, "token 1", "token x"), "its token is no number of at most 16 digits");
        assertUnreadable(replaced(bytes, "\nstate data", "\nstate dada"), "its state is neither data nor none");
        assertUnreadable(replaced(bytes, "\nholder 0", "\nholder z"), "an id in it is not 32 hexadecimal digits");
        byte[] two = Arrays.copyOf(bytes, bytes.length + plain.size());
        System.arraycopy(plain.toByteArray(), 0, two, bytes.length, plain.size());
        assertUnreadable(two, "something follows its data");
        assertUnreadable(
                format.encode(new Document<>(
                        header(S3Format.ENVELOPE, 0, Header.State.DATA), new byte[16 * 1024 + 1], Attributes.none())),
                "its body is longer than 16384 bytes");
    }

    private static byte[] replaced(byte[] bytes, String old, String other) {
        return new String(bytes, StandardCharsets.ISO_8859_1)
                .replace(old, other)
                .getBytes(StandardCharsets.ISO_8859_1);
    }

    private void assertUnreadable(byte[] bytes, String why) {
        assertThatThrownBy(() -> format.decode(bytes, Attributes.none()))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining(why);
    }
}
