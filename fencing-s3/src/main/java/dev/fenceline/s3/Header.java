package dev.fenceline.s3;

import dev.fenceline.FencingToken;
import dev.fenceline.LockName;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.Iterator;
import java.util.List;
import java.util.UUID;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The mark of an object, and what makes each of its writes unlike any other.
 *
 * <p>An ETag may be the MD5 of the content, so content that comes back brings its ETag back, and an {@code If-Match} of long ago passes.
 * The id of the write is part of the bytes: no two writes have one ETag, whatever they hold.
 *
 * @param format how the object is stored
 * @param token the newest claim
 * @param writeId of the write that made these bytes
 * @param replaced the ids of the writes before it, the last one first; no more than {@link #REMEMBERED}
 * @param state whether there is data
 */
record Header(S3Format format, FencingToken token, UUID writeId, List<UUID> replaced, State state) {

    /** As many writes as a writer may be late and still find out what became of its own. */
    static final int REMEMBERED = 8;

    private static final String MAGIC = "fenceline 1 ";
    private static final Pattern NEWER = Pattern.compile("fenceline ([0-9]{1,9}) .*");
    private static final Pattern HEX = Pattern.compile("[0-9a-f]{32}");
    private static final Pattern VALUE = Pattern.compile("[1-9][0-9]{0,15}");

    /** Whether there is something to read. */
    enum State {
        /** There is. */
        DATA("data"),
        /** Nothing was written yet, or it was deleted. The mark stays, and so no older writer can bring it back. */
        NONE("none");

        private final String word;

        State(String word) {
            this.word = word;
        }
    }

    Header {
        if (replaced.size() > REMEMBERED) {
            throw new IllegalArgumentException(
                    "A header lists " + replaced.size() + " replaced writes; at most " + REMEMBERED + " are allowed.");
        }
        replaced = List.copyOf(replaced);
    }

    /** The mark of an object that nobody has claimed before. */
    static Header first(S3Format format, FencingToken token) {
        return new Header(format, token, UUID.randomUUID(), List.of(), State.NONE);
    }

    /** The same object under a new mark. */
    Header claimedBy(FencingToken claimant) {
        return new Header(format, claimant, UUID.randomUUID(), withThis(), state);
    }

    /** What follows under the same mark. */
    Header next(State nextState) {
        return new Header(format, token, UUID.randomUUID(), withThis(), nextState);
    }

    private List<UUID> withThis() {
        List<UUID> all = new ArrayList<>();
        all.add(writeId);
        all.addAll(replaced);
        return all.subList(0, Math.min(all.size(), REMEMBERED));
    }

    /** Tells whether the write is in the object's history, as far as that is remembered. */
    boolean includes(UUID write) {
        return writeId.equals(write) || replaced.contains(write);
    }

    /** The lines as they are stored, each with a line feed at its end. */
    String text() {
        StringBuilder text = new StringBuilder(MAGIC)
                .append(format.word())
                .append("\nlock ")
                .append(token.lock())
                .append("\ntoken ")
                .append(token.value())
                .append("\nholder ")
                .append(hex(token.holder()))
                .append("\nwrite ")
                .append(hex(writeId))
                .append("\nreplaced");
        replaced.forEach(write -> text.append(' ').append(hex(write)));
        return text.append("\nstate ").append(state.word).append('\n').toString();
    }

    /**
     * Reads the seven lines of a header.
     *
     * @throws IllegalArgumentException when a line is not as it must be; the message says which
     */
    static Header parse(Iterator<String> lines) {
        String first = lines.hasNext() ? lines.next() : "";
        Matcher newer = NEWER.matcher(first);
        if (!first.startsWith(MAGIC) && newer.matches()) {
            throw new IllegalArgumentException("it has version " + newer.group(1)
                    + " of the format, and this release reads version 1; upgrade it first");
        }
        S3Format format = Arrays.stream(S3Format.values())
                .filter(known -> first.equals(MAGIC + known.word()))
                .findFirst()
                .orElseThrow(() -> new IllegalArgumentException("it does not begin with '" + MAGIC + "'"));
        LockName lock = LockName.parse(value(lines, "lock"));
        String value = value(lines, "token");
        if (!VALUE.matcher(value).matches()) {
            throw new IllegalArgumentException("its token is no number of at most 16 digits");
        }
        UUID holder = id(value(lines, "holder"));
        UUID writeId = id(value(lines, "write"));
        List<UUID> replaced = new ArrayList<>();
        String ids = value(lines, "replaced");
        if (!ids.isEmpty()) {
            for (String id : ids.split(" ", -1)) {
                replaced.add(id(id));
            }
        }
        String state = value(lines, "state");
        return new Header(
                format,
                new FencingToken(lock, Long.parseLong(value), holder),
                writeId,
                replaced,
                Arrays.stream(State.values())
                        .filter(known -> known.word.equals(state))
                        .findFirst()
                        .orElseThrow(() -> new IllegalArgumentException("its state is neither data nor none")));
    }

    private static String value(Iterator<String> lines, String name) {
        String line = lines.hasNext() ? lines.next() : "";
        if (line.equals(name)) {
            return "";
        }
        if (!line.startsWith(name + " ")) {
            throw new IllegalArgumentException("it has no line '" + name + "' where that belongs");
        }
        return line.substring(name.length() + 1);
    }

    static String hex(UUID id) {
        HexFormat digits = HexFormat.of();
        return digits.toHexDigits(id.getMostSignificantBits()) + digits.toHexDigits(id.getLeastSignificantBits());
    }

    static UUID id(String hex) {
        if (!HEX.matcher(hex).matches()) {
            throw new IllegalArgumentException("an id in it is not 32 hexadecimal digits");
        }
        return new UUID(
                Long.parseUnsignedLong(hex.substring(0, 16), 16), Long.parseUnsignedLong(hex.substring(16), 16));
    }
}
