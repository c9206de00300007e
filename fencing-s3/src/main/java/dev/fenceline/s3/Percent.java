package dev.fenceline.s3;

import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.CodingErrorAction;
import java.nio.charset.StandardCharsets;

/** Text without spaces and line feeds: UTF-8, and every byte but letters, digits and {@code -._~/} as {@code %XX} (RFC 3986). */
final class Percent {

    private static final String DIGITS = "0123456789ABCDEF";
    private static final String AS_THEY_ARE = "-._~/";

    private Percent() {}

    static String encode(String text) {
        StringBuilder encoded = new StringBuilder();
        for (byte b : text.getBytes(StandardCharsets.UTF_8)) {
            char c = (char) (b & 0xff);
            if ((c >= 'a' && c <= 'z')
                    || (c >= 'A' && c <= 'Z')
                    || (c >= '0' && c <= '9')
                    || AS_THEY_ARE.indexOf(c) >= 0) {
                encoded.append(c);
            } else {
                encoded.append('%').append(DIGITS.charAt(c >> 4)).append(DIGITS.charAt(c & 15));
            }
        }
        return encoded.toString();
    }

    static String decode(String encoded) {
        ByteBuffer bytes = ByteBuffer.allocate(encoded.length());
        for (int i = 0; i < encoded.length(); i++) {
            char c = encoded.charAt(i);
            if (c == '%') {
                int high = i + 2 < encoded.length() ? DIGITS.indexOf(encoded.charAt(i + 1)) : -1;
                int low = i + 2 < encoded.length() ? DIGITS.indexOf(encoded.charAt(i + 2)) : -1;
                if (high < 0 || low < 0) {
                    throw new IllegalArgumentException("a name in it is not percent-encoded");
                }
                bytes.put((byte) (high << 4 | low));
                i += 2;
            } else if (c > ' ' && c < 0x7f) {
                bytes.put((byte) c);
            } else {
                throw new IllegalArgumentException("a name in it is not percent-encoded");
            }
        }
        try {
            return StandardCharsets.UTF_8
                    .newDecoder()
                    .onMalformedInput(CodingErrorAction.REPORT)
                    .decode(bytes.flip())
                    .toString();
        } catch (CharacterCodingException e) {
            throw new IllegalArgumentException("a name in it is not UTF-8", e);
        }
    }
}
