package dev.fenceline.jdbc;

import dev.fenceline.FencelineException;
import dev.fenceline.FencingToken;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Finds out from the marks why a statement wrote nothing. Somebody newer comes before everything else: then the session is over,
 * and whether the row is there is no longer its affair.
 */
final class RowVerdict {

    private RowVerdict() {}

    /** Of several rows, the one that somebody newer has taken tells most. */
    static FencelineException of(
            RowForm form, List<RowSession> sessions, List<RowMark> marks, @Nullable Throwable cause) {
        for (int i = 0; i < sessions.size(); i++) {
            Optional<FencelineException> stale = stale(form.step(), sessions.get(i), marks.get(i), cause);
            if (stale.isPresent()) {
                return stale.get();
            }
        }
        for (int i = 0; i < sessions.size(); i++) {
            Optional<FencelineException> other = withoutNewer(form, sessions.get(i), marks.get(i), cause);
            if (other.isPresent()) {
                return other.get();
            }
        }
        return RowRefusals.conflict(
                form.step(),
                sessions.get(0).target(),
                "nothing was written although nobody newer is there: its mark, "
                        + marks.get(0).ruling()
                        + " now, changed meanwhile, or a trigger or policy of the table keeps the write from it",
                cause);
    }

    static Optional<FencelineException> stale(
            String step, RowSession session, RowMark mark, @Nullable Throwable cause) {
        return mark.overtakenBy(session.target().token()).map(newest -> session.overtaken(step, newest, cause));
    }

    private static Optional<FencelineException> withoutNewer(
            RowForm form, RowSession session, RowMark mark, @Nullable Throwable cause) {
        FencingToken token = session.target().token();
        if (form.needsRow() && !mark.exists()) {
            return Optional.of(RowRefusals.missing(form.step(), session.target(), mark));
        }
        boolean neverClaimed =
                session.admission() == Admission.EQUAL && mark.exists() && mark.of(token) == Mark.Standing.NOT_CLAIMED;
        return neverClaimed ? Optional.of(RowRefusals.notClaimed(session.target(), mark, cause)) : Optional.empty();
    }
}
