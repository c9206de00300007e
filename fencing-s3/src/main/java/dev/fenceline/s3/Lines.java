package dev.fenceline.s3;

import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.CodingErrorAction;
import java.nio.charset.StandardCharsets;
import java.util.List;

/** Text as both formats store it: UTF-8, and a line feed at the end of each line. */
final class Lines {

    private Lines() {}

    /**
     * Takes the lines apart.
     *
     * @throws IllegalArgumentException when it is no such text
     */
    static List<String> of(byte[] bytes) {
        try {
            String text = StandardCharsets.UTF_8
                    .newDecoder()
                    .onMalformedInput(CodingErrorAction.REPORT)
                    .decode(ByteBuffer.wrap(bytes))
                    .toString();
            if (!text.endsWith("\n")) {
                throw new IllegalArgumentException("its last line has no end");
            }
            return List.of(text.substring(0, text.length() - 1).split("\n", -1));
        } catch (CharacterCodingException e) {
            throw new IllegalArgumentException("it is not UTF-8", e);
        }
    }
}
