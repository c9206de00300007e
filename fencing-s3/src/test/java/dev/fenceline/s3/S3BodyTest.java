package dev.fenceline.s3;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.List;
import org.junit.jupiter.api.Test;

/** What no store takes is refused before a mark is left. */
class S3BodyTest {

    private static final S3Body BODY = S3Body.of("x");

    @Test
    void aMetadataNameThatNoHeaderTakesIsRefused() {
        for (String wrong :
                List.of("", " ", "a b", "a:b", "a/b", "a=b", "a\"b", "a@b", "a\tb", "k\u00e4the", "a\u007f")) {
            assertThatThrownBy(() -> BODY.metadata(wrong, "value"))
                    .as(wrong)
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageStartingWith("The metadata name '")
                    .hasMessageEndingWith(
                            "' is not one that a header takes; it is made of a-z, 0-9 and !#$%&'*+-.^_`|~, at"
                                    + " least one of them.");
        }
        assertThat(BODY.metadata("a-z_0.9!#$%&'*+^`|~", "value").attributes().metadata())
                .containsOnlyKeys("a-z_0.9!#$%&'*+^`|~");
    }

    @Test
    void aMetadataValueWithControlCharactersIsRefused() {
        for (String wrong : List.of("a\r\nx-amz-acl: public-read", "a\tb", "\u0000", "a\u007f")) {
            assertThatThrownBy(() -> BODY.metadata("owner", wrong))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageStartingWith(
                            "The value of the metadata 'owner' holds something else than printable ASCII");
        }
    }

    /** Of the 2,048 bytes, a fenced object takes 17 for its own note, {@code fenceline: envelope}. */
    @Test
    void moreMetadataThanS3TakesIsRefused() {
        S3Body most = BODY.metadata("owner", "x".repeat(1000)).metadata("second", "y".repeat(1020));
        assertThat(most.attributes().metadata()).hasSize(2);
        assertThatThrownBy(() -> most.metadata("a", ""))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage(
                        "With 'a' the names and values of the metadata have 2032 bytes, and S3 takes 2048, of which 17"
                                + " are for the note that tells how the object is stored; keep large values in the body.");
        assertThat(most.metadata("owner", "replaced").attributes().metadata()).containsEntry("owner", "replaced");
    }
}
