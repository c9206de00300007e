package dev.fenceline;

import java.math.BigInteger;
import java.nio.charset.StandardCharsets;
import java.text.Normalizer;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.regex.Pattern;

/**
 * Names what is locked: a class such as {@code account}, and the parts that tell one account from another.
 *
 * <p>{@code LockName.of("account", 42)} reads {@code account:42}. Parts are escaped, so {@code ("a:b", "c")} and
 * {@code ("a", "b:c")} are two names. The class is what metrics and events carry; the parts never leave the locks, the
 * fences and the messages.
 *
 * <p><b>Guarantees:</b> two names are equal iff their canonical texts are equal, byte by byte. Text is brought to Unicode
 * normal form C first, so that the same name typed on two systems is one name.
 *
 * <p><b>Thread-safety:</b> immutable.
 */
public final class LockName implements Comparable<LockName> {

    /** The longest canonical form, in bytes of UTF-8. */
    public static final int MAX_BYTES = 512;

    private static final Pattern CLASS = Pattern.compile("[A-Za-z][A-Za-z0-9._-]{0,63}");

    private final String lockClass;
    private final String canonical;

    private LockName(String lockClass, String canonical) {
        this.lockClass = lockClass;
        this.canonical = canonical;
    }

    /**
     * Names one thing of a class.
     *
     * @param lockClass a letter followed by at most 63 letters, digits, dots, hyphens or underscores
     * @param parts the key: strings, whole numbers and UUIDs, whose text is the same in every process
     * @return the name
     * @throws IllegalArgumentException when the class or a part cannot be used; the message says which and why
     */
    public static LockName of(String lockClass, Object... parts) {
        StringBuilder canonical = new StringBuilder(checkedClass(lockClass));
        for (int i = 0; i < parts.length; i++) {
            canonical.append(':').append(escape(textOf(parts[i], i)));
        }
        return checked(lockClass, canonical.toString());
    }

    /**
     * Reads a name from its canonical text, the inverse of {@link #toString()}.
     *
     * @param text for instance {@code account:42}
     * @return the name
     * @throws IllegalArgumentException when the text is no canonical name; the message says why
     */
    public static LockName parse(String text) {
        if (text.isEmpty()) {
            throw new IllegalArgumentException(
                    "A lock name is empty. A name is a class and parts, such as account:42.");
        }
        if (text.length() > MAX_BYTES) {
            throw tooLong(text, text.getBytes(StandardCharsets.UTF_8).length);
        }
        List<String> pieces = split(text);
        String lockClass = checkedClass(pieces.get(0));
        Object[] parts =
                pieces.stream().skip(1).map(piece -> unescape(piece, text)).toArray();
        LockName name = of(lockClass, parts);
        if (!name.canonical.equals(text)) {
            throw new IllegalArgumentException("Lock name '" + excerpt(text)
                    + "' is not in canonical form; that would be '" + excerpt(name.canonical) + "'.");
        }
        return name;
    }

    /**
     * Returns what kind of thing is locked, for metrics and events.
     *
     * @return the first part of the name, such as {@code account}
     */
    public String lockClass() {
        return lockClass;
    }

    /** Returns the canonical text, such as {@code account:42}. */
    @Override
    public String toString() {
        return canonical;
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof LockName name && name.canonical.equals(canonical);
    }

    @Override
    public int hashCode() {
        return canonical.hashCode();
    }

    /** Orders by the bytes of the canonical text: the one order in which several locks are taken. */
    @Override
    public int compareTo(LockName other) {
        byte[] mine = canonical.getBytes(StandardCharsets.UTF_8);
        byte[] theirs = other.canonical.getBytes(StandardCharsets.UTF_8);
        return java.util.Arrays.compareUnsigned(mine, theirs);
    }

    private static String checkedClass(String lockClass) {
        if (!CLASS.matcher(lockClass).matches()) {
            throw new IllegalArgumentException("Lock class '" + excerpt(lockClass)
                    + "' cannot be used: it is a letter followed by at most 63 letters, digits, '.', '-' or '_'."
                    + " Put what varies into the parts, as in account:42.");
        }
        return lockClass;
    }

    private static String textOf(Object part, int index) {
        if (part instanceof String text) {
            return checkedText(Normalizer.normalize(text, Normalizer.Form.NFC), index);
        }
        if (part instanceof Integer
                || part instanceof Long
                || part instanceof Short
                || part instanceof Byte
                || part instanceof BigInteger
                || part instanceof UUID) {
            return part.toString();
        }
        if (part == null) {
            throw new IllegalArgumentException("Part " + (index + 1) + " of a lock name is null."
                    + " A name needs every part of its key; a row without a key cannot be locked.");
        }
        throw new IllegalArgumentException("Part " + (index + 1) + " of a lock name is a "
                + part.getClass().getName() + ", whose text may differ from process to process."
                + " Pass a String, a whole number or a UUID.");
    }

    private static String checkedText(String text, int index) {
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            boolean loneSurrogate = Character.isSurrogate(c)
                    && !(Character.isHighSurrogate(c)
                            && i + 1 < text.length()
                            && Character.isLowSurrogate(text.charAt(i + 1)));
            if (Character.isISOControl(c) || loneSurrogate) {
                throw new IllegalArgumentException(String.format(
                        "Part %d of a lock name holds U+%04X at position %d, which PostgreSQL and logs cannot carry.",
                        index + 1, (int) c, i));
            }
            if (Character.isHighSurrogate(c)) {
                i++;
            }
        }
        return text;
    }

    private static LockName checked(String lockClass, String canonical) {
        int bytes = canonical.getBytes(StandardCharsets.UTF_8).length;
        if (bytes > MAX_BYTES) {
            throw tooLong(canonical, bytes);
        }
        return new LockName(lockClass, canonical);
    }

    private static IllegalArgumentException tooLong(String text, int bytes) {
        return new IllegalArgumentException(
                "Lock name '" + excerpt(text) + "' has " + bytes + " bytes of UTF-8; at most " + MAX_BYTES
                        + " are allowed. Name the row by its key, not by its content.");
    }

    private static String escape(String part) {
        return part.replace("%", "%25").replace(":", "%3A");
    }

    private static List<String> split(String text) {
        List<String> pieces = new ArrayList<>();
        int from = 0;
        for (int colon = text.indexOf(':'); colon >= 0; colon = text.indexOf(':', from)) {
            pieces.add(text.substring(from, colon));
            from = colon + 1;
        }
        pieces.add(text.substring(from));
        return pieces;
    }

    private static String unescape(String piece, String whole) {
        String plain = piece.replace("%3A", ":").replace("%25", "%");
        if (!escape(plain).equals(piece)) {
            throw new IllegalArgumentException(
                    "Lock name '" + excerpt(whole)
                            + "' holds a '%' that starts neither %25 nor %3A. In a part % is written as %25 and : as %3A, which LockName.of does.");
        }
        return plain;
    }

    private static String excerpt(String text) {
        return text.length() <= 80 ? text : text.substring(0, 80) + "…";
    }
}
