package dev.fenceline.jdbc;

import dev.fenceline.FencingToken;
import java.time.OffsetDateTime;
import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;

/**
 * The marks of the locks of one session.
 *
 * @param tokens what the session presents
 * @param inOrder the mark of each, in the order of the tokens
 * @param readAt when, by the server's clock
 */
record Marks(Tokens tokens, List<Mark> inOrder, OffsetDateTime readAt) {

    /** A token that is not the mark, and that mark. */
    record Mismatch(FencingToken token, Mark mark) {}

    /** The first lock that somebody has taken over; else the first that was never claimed with this token. */
    Optional<Mismatch> mismatch() {
        return first(Mark.Standing.OVERTAKEN).or(() -> first(Mark.Standing.NOT_CLAIMED));
    }

    private Optional<Mismatch> first(Mark.Standing standing) {
        for (int i = 0; i < inOrder.size(); i++) {
            FencingToken token = tokens.all().get(i);
            if (inOrder.get(i).of(token) == standing) {
                return Optional.of(new Mismatch(token, inOrder.get(i)));
            }
        }
        return Optional.empty();
    }

    /** For messages: {@code The mark is 5/… of 'account:1'}. */
    @Override
    public String toString() {
        return inOrder.stream()
                .map(Mark::toString)
                .collect(Collectors.joining(", ", tokens.areSeveral() ? "The marks are " : "The mark is ", ""));
    }
}
