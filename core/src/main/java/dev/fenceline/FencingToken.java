package dev.fenceline;

import java.nio.ByteBuffer;
import java.nio.CharBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.CodingErrorAction;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.Base64;
import java.util.UUID;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * What a grant hands out and a fence compares: newer tokens win, and only the newest may write.
 *
 * <p>The value is microseconds of the lock server's clock, kept strictly rising per lock. The holder tells two grants
 * apart even if a lock server that lost its data should repeat a number: a fence compares both.
 *
 * <p><b>Not guaranteed:</b> a token is no credential. Whoever can send one can forge one, so a service that receives
 * tokens compares the lock with the name of its own resource ({@link #requireLock}) and lets the fence refuse values
 * from the far future.
 *
 * <p><b>Thread-safety:</b> immutable.
 *
 * @param lock the lock that was granted
 * @param value a positive number below 2<sup>53</sup>, in fact microseconds since 1970 of the lock server's clock
 * @param holder 128 random bits, fresh for each grant
 */
public record FencingToken(LockName lock, long value, UUID holder) {

    /** The first value that is too large: 2<sup>53</sup>, since Redis computes in doubles. */
    public static final long VALUE_LIMIT = 1L << 53;

    /** The longest encoded form, in ASCII characters. */
    public static final int MAX_ENCODED_LENGTH = 900;

    // Lock first and holder last: the holder's fixed length shows a token that was cut off on its way.
    private static final Pattern ENCODED =
            Pattern.compile("v1\\.([A-Za-z0-9_-]+)\\.([1-9][0-9]{0,15})\\.([0-9a-f]{32})");
    private static final Pattern VERSION = Pattern.compile("v([0-9]{1,9})\\..*");

    /**
     * Checks the value.
     *
     * @throws IllegalArgumentException when the value is not between 1 and 2<sup>53</sup> - 1
     */
    public FencingToken {
        if (value <= 0 || value >= VALUE_LIMIT) {
            throw new IllegalArgumentException(
                    "Token value " + value + " for lock '" + lock + "' is not between 1 and 2^53 - 1.");
        }
    }

    /**
     * Writes the token as text for an HTTP or message header: versioned, ASCII, without spaces, at most
     * {@value #MAX_ENCODED_LENGTH} characters.
     *
     * @return text that {@link #parse} reads
     */
    public String encode() {
        String name = Base64.getUrlEncoder()
                .withoutPadding()
                .encodeToString(lock.toString().getBytes(StandardCharsets.UTF_8));
        return "v1." + name + "." + value + "." + hex(holder);
    }

    /**
     * Reads a token that {@link #encode()} wrote.
     *
     * @param encoded text from an untrusted place; no more than {@value #MAX_ENCODED_LENGTH} characters are looked at
     * @return the token
     * @throws IllegalArgumentException when the text is no token, was cut off, or has a version that this release does not
     *     know
     */
    public static FencingToken parse(String encoded) {
        if (encoded == null) {
            throw new IllegalArgumentException("No encoded token: it is null. Is the header missing?");
        }
        if (encoded.length() > MAX_ENCODED_LENGTH) {
            throw new IllegalArgumentException("An encoded token has " + encoded.length() + " characters; at most "
                    + MAX_ENCODED_LENGTH + " are allowed.");
        }
        Matcher matcher = ENCODED.matcher(encoded);
        if (!matcher.matches()) {
            Matcher version = VERSION.matcher(encoded);
            if (version.matches() && !version.group(1).equals("1")) {
                throw new IllegalArgumentException("An encoded token has version " + version.group(1)
                        + "; this release reads version 1. Upgrade the receiver first.");
            }
            throw new IllegalArgumentException(
                    "Not an encoded token: expected v1.<lock>.<value>.<holder> with a holder of 32"
                            + " hexadecimal digits, got " + encoded.length() + " characters. Was the header cut off?");
        }
        String name = decodedName(matcher.group(1));
        return new FencingToken(LockName.parse(name), Long.parseLong(matcher.group(2)), holder(matcher.group(3)));
    }

    /**
     * Refuses a token of another lock: the sender does not choose what it may write.
     *
     * @param expected the name of the resource that is about to be written
     * @return this token
     * @throws TokenRejectedException when the token belongs to another lock
     */
    public FencingToken requireLock(LockName expected) {
        if (!lock.equals(expected)) {
            throw TokenRejectedException.otherLock(expected, this);
        }
        return this;
    }

    /**
     * Tells how much later another token was issued, by the lock server's clock.
     *
     * @param newer the token to compare with
     * @return the distance; negative when {@code newer} is in fact older
     */
    public Duration olderThan(FencingToken newer) {
        return Duration.of(newer.value - value, ChronoUnit.MICROS);
    }

    /** Returns lock, value and the first eight digits of the holder, for messages and logs. */
    @Override
    public String toString() {
        return value + "/" + hex(holder).substring(0, 8) + " of '" + lock + "'";
    }

    private static String decodedName(String base64) {
        try {
            CharBuffer name = StandardCharsets.UTF_8
                    .newDecoder()
                    .onMalformedInput(CodingErrorAction.REPORT)
                    .decode(ByteBuffer.wrap(Base64.getUrlDecoder().decode(base64)));
            return name.toString();
        } catch (CharacterCodingException | IllegalArgumentException e) {
            throw new IllegalArgumentException("Not an encoded token: its lock is not base64url of UTF-8.", e);
        }
    }

    private static String hex(UUID holder) {
        return holder.toString().replace("-", "");
    }

    private static UUID holder(String hex) {
        return new UUID(
                Long.parseUnsignedLong(hex.substring(0, 16), 16), Long.parseUnsignedLong(hex.substring(16), 16));
    }
}
