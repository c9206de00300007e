package dev.fenceline.examples.pausedwriter;

import dev.fenceline.examples.pausedwriter.Moment.Mark;
import dev.fenceline.examples.pausedwriter.Moment.Sign;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;

/** Turns the rows and events of one pause into what is drawn of it, by time. */
final class Moments {

    private Moments() {}

    static List<Moment> of(RunTrace run, Scene scene) {
        List<Moment> moments = new ArrayList<>();
        for (Event event : run.eventsOf(scene)) {
            List<Mark> marks = marks(event);
            if (!marks.isEmpty()) {
                moments.add(new Moment(event.at(), marks));
            }
        }
        for (AdmittedClaim claim : run.claimsOf(scene)) {
            moments.add(new Moment(
                    claim.at(),
                    List.of(new Mark(
                            Lane.ROW,
                            Sign.CLAIM,
                            List.of("claimed by " + claim.writer(), shortToken(claim.token())),
                            claim.lock() + " claimed with token " + claim.token()))));
        }
        for (AcceptedWrite write : run.historyOf(scene)) {
            moments.add(new Moment(write.at(), marks(write)));
        }
        moments.sort(Comparator.comparing(Moment::at));
        return moments;
    }

    /** The digits in which tokens of one demo differ; the whole token stands in the bar of the hold. */
    static String shortToken(long token) {
        String digits = Long.toString(token);
        return "…" + digits.substring(Math.max(0, digits.length() - 8));
    }

    private static List<Mark> marks(Event event) {
        Lane lane = Lane.of(event.actor());
        return switch (event.kind()) {
            case GRANTED -> List.of(new Mark(lane, Sign.DOT, List.of("gets the lock"), "token " + event.token()));
            case READ -> List.of(new Mark(lane, Sign.DOT, List.of("reads", event.text()), event.text()));
            case REFUSED ->
                List.of(
                        new Mark(lane, Sign.DOT, List.of("writes"), event.text()),
                        new Mark(
                                Lane.ROW,
                                Sign.REFUSED,
                                List.of(event.actor() + " refused", shortToken(event.token())),
                                event.text()));
            case LEASE_ENDED -> List.of(new Mark(Lane.REDIS, Sign.END, List.of("lease ends"), event.text()));
            case TRANSACTION_ENDED ->
                List.of(new Mark(Lane.ROW, Sign.END, List.of("server ends", "A's transaction"), event.text()));
            case STOPPED -> List.of(new Mark(Lane.WRITER_A, Sign.NONE, List.of(), event.text()));
            case CONTINUED -> List.of(new Mark(Lane.WRITER_A, Sign.NONE, List.of("SIGCONT"), event.text()));
            case RELEASED -> List.of();
        };
    }

    private static List<Mark> marks(AcceptedWrite write) {
        boolean lost = write.overwroteUnseen();
        String versions = lost
                ? "read v" + write.baseVersion() + ", replaced v" + write.replacedVersion()
                : write.writer() + ": v" + (write.replacedVersion() + 1);
        String story = "accepted write of " + write.writer() + " with token " + write.token() + ", "
                + Money.change(write.changeCents()) + ", computed from version " + write.baseVersion() + ", replaced "
                + write.replacedVersion();
        return List.of(
                new Mark(
                        Lane.of(write.writer()), Sign.DOT, List.of("writes", Money.change(write.changeCents())), story),
                new Mark(
                        Lane.ROW,
                        lost ? Sign.LOST : Sign.ACCEPTED,
                        List.of(Money.euros(write.balanceCents()), versions),
                        story));
    }
}
