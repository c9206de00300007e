package dev.fenceline.s3;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.charset.StandardCharsets;
import java.util.List;
import org.junit.jupiter.api.Test;

class PointerFormatTest {

    private final PointerFormat format = new PointerFormat();

    private static Document<List<DataObject>> document(DataObject... objects) {
        return new Document<>(
                EnvelopeFormatTest.header(
                        S3Format.POINTER, 1, objects.length == 0 ? Header.State.NONE : Header.State.DATA),
                List.of(objects),
                Attributes.none());
    }

    @Test
    void theDocumentIsTheTextOfTheSpecification() {
        DataObject object = new DataObject("größe 1.csv", "a b/k.data/1-2", 12, "0a".repeat(32));
        byte[] bytes = format.encode(document(object));
        assertThat(new String(bytes, StandardCharsets.UTF_8)).isEqualTo("""
                fenceline 1 pointer
                lock report:ä%3A1
                token 1764493000000000
                holder 00112233445566778899aabbccddeeff
                write 0f0e0d0c0b0a09080706050403020100
                replaced 00000000000000000000000000000001
                state data
                object gr%C3%B6%C3%9Fe%201.csv 12 SHA256 a%20b/k.data/1-2
                """.replace("SHA256", "0a".repeat(32)));
        assertThat(format.decode(bytes, Attributes.none())).isEqualTo(document(object));
        assertThat(format.decode(format.encode(document()), Attributes.none())).isEqualTo(document());
    }

    @Test
    void linesThatAreNotAsTheyMustBeAreRefused() {
        String good = new String(
                format.encode(document(new DataObject("n", "k", 1, "00".repeat(32)))), StandardCharsets.UTF_8);
        assertUnreadable(good.substring(0, good.length() - 1), "its last line has no end");
        assertUnreadable(good.replace("object n 1", "object n 01"), "a line in it names no object");
        assertUnreadable(good.replace("object n", "object n%4"), "a name in it is not percent-encoded");
        assertUnreadable(good.replace("object n", "object n%ff"), "a name in it is not percent-encoded");
        assertUnreadable(good.replace("object n", "object n%FF"), "a name in it is not UTF-8");
        assertUnreadable(good.replace("state data", "state none"), "its state and its objects contradict each other");
        assertUnreadable(good + good.substring(good.indexOf("object")), "it names an object twice");
        assertUnreadable(good.replace("pointer", "envelope"), "it is of the format 'envelope'");
        assertUnreadable(good.replace("lock ", "lok "), "it has no line 'lock' where that belongs");
        assertUnreadable("{}\n", "it does not begin with 'fenceline 1 '");
    }

    private void assertUnreadable(String text, String why) {
        assertThatThrownBy(() -> format.decode(text.getBytes(StandardCharsets.UTF_8), Attributes.none()))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining(why);
    }
}
