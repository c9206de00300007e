package dev.fenceline.verification.model;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * The theorem that everything rests on, over every interleaving of three sessions: claim, read, write twice, where the lock
 * service is so bad that it grants everybody at once and may give two grants the same number.
 *
 * <p>Pauses, lost leases and slow networks need no step of their own: a session that is not scheduled is paused.
 */
class FenceModelTest {

    private static final int WRITES = 2;

    /** How a resource decides. Only CLAIM_THEN_EQUALITY is safe; the others are what people build. */
    enum Rule {
        CLAIM_THEN_EQUALITY,
        /** No fence at all. */
        NO_CHECK,
        /** The folklore: a write passes if its token is at least the stored one. */
        AT_LEAST_ON_WRITE,
        /** Claims and writes compare the number and forget the holder. */
        NUMBER_WITHOUT_HOLDER,
        /** A refused session takes a fresh number and goes on with what it read. */
        RAISE_AND_GO_ON,
        /** The claim waits for the row, but the read uses the snapshot from before the wait. */
        CLAIM_IN_THE_READS_SNAPSHOT
    }

    enum Phase {
        GRANTED,
        CLAIMED,
        READ,
        OVER
    }

    /** A session; {@code base} is the version its next write will replace, {@code snapshot} what it saw when it was granted. */
    record Session(int number, Phase phase, int base, int snapshot, int writes) {}

    /** The resource: its mark as number and holder, and the version of its data; and the first lost update. */
    record State(int mark, int markHolder, int version, List<Session> sessions, Optional<String> lost) {

        State with(int holder, Session session) {
            List<Session> changed = new ArrayList<>(sessions);
            changed.set(holder, session);
            return new State(mark, markHolder, version, List.copyOf(changed), lost);
        }

        State marked(int number, int holder) {
            return new State(number, holder, version, sessions, lost);
        }
    }

    @Test
    void claimThenEqualityLosesNothingInAnyInterleaving() {
        for (List<Integer> numbers : List.of(List.of(1, 2, 3), List.of(1, 1, 2), List.of(2, 2, 2), List.of(3, 1, 2))) {
            Explorer.Result result = explore(Rule.CLAIM_THEN_EQUALITY, numbers);
            assertThat(result.violation()).as("grants %s", numbers).isEmpty();
            assertThat(result.states()).isGreaterThan(100);
        }
    }

    @ParameterizedTest
    @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "CLAIM_THEN_EQUALITY")
    void everyWeakerRuleLosesAnUpdate(Rule rule) {
        Explorer.Result result = explore(rule, rule == Rule.NUMBER_WITHOUT_HOLDER ? List.of(1, 1) : List.of(1, 2));
        assertThat(result.violation())
                .as("the model sees the fault of %s", rule)
                .isPresent();
    }

    @Test
    void theFolkloreCheckFailsInTheKnownWay() {
        assertThat(explore(Rule.AT_LEAST_ON_WRITE, List.of(1, 2)).violation().orElseThrow())
                .as("both read, the late writer writes, and the newer one passes its check over it")
                .contains("0 writes", "1 writes");
    }

    private static Explorer.Result explore(Rule rule, List<Integer> numbers) {
        List<Session> sessions = numbers.stream()
                .map(number -> new Session(number, Phase.GRANTED, -1, 0, 0))
                .toList();
        return Explorer.explore(
                new State(0, -1, 0, sessions, Optional.empty()), state -> steps(state, rule), State::lost);
    }

    private static List<Explorer.Step<State>> steps(State state, Rule rule) {
        List<Explorer.Step<State>> steps = new ArrayList<>();
        for (int holder = 0; holder < state.sessions().size(); holder++) {
            Session me = state.sessions().get(holder);
            switch (me.phase()) {
                case GRANTED -> steps.add(new Explorer.Step<>(holder + " claims", claim(state, rule, holder, me)));
                case CLAIMED -> {
                    // A claim whose reply was lost is repeated: idempotent, at any time before the read.
                    steps.add(new Explorer.Step<>(holder + " claims again", claim(state, rule, holder, me)));
                    int seen = rule == Rule.CLAIM_IN_THE_READS_SNAPSHOT ? me.snapshot() : state.version();
                    steps.add(new Explorer.Step<>(
                            holder + " reads", state.with(holder, phase(me, Phase.READ, seen, me.writes()))));
                }
                case READ -> steps.add(new Explorer.Step<>(holder + " writes", write(state, rule, holder, me)));
                case OVER -> {}
            }
            if (me.phase() == Phase.GRANTED && me.snapshot() != state.version()) {
                // A transaction may open its snapshot at any time before the claim; only one rule reads from it.
                steps.add(new Explorer.Step<>(
                        holder + " opens a snapshot",
                        state.with(holder, new Session(me.number(), me.phase(), me.base(), state.version(), 0))));
            }
        }
        return steps;
    }

    private static State claim(State state, Rule rule, int holder, Session me) {
        boolean claims = rule != Rule.NO_CHECK && rule != Rule.AT_LEAST_ON_WRITE;
        if (!claims) {
            return state.with(holder, phase(me, Phase.CLAIMED, me.base(), 0));
        }
        boolean mine =
                me.number() == state.mark() && (holder == state.markHolder() || rule == Rule.NUMBER_WITHOUT_HOLDER);
        if (me.number() > state.mark() || mine) {
            return state.marked(me.number(), holder).with(holder, phase(me, Phase.CLAIMED, me.base(), 0));
        }
        return state.with(holder, phase(me, Phase.OVER, me.base(), 0));
    }

    private static State write(State state, Rule rule, int holder, Session me) {
        boolean admitted = switch (rule) {
            case NO_CHECK -> true;
            case AT_LEAST_ON_WRITE -> me.number() >= state.mark();
            case NUMBER_WITHOUT_HOLDER -> me.number() == state.mark();
            default -> me.number() == state.mark() && holder == state.markHolder();
        };
        if (!admitted && rule == Rule.RAISE_AND_GO_ON && me.number() <= state.mark() && state.mark() < 4) {
            Session raised = new Session(state.mark() + 1, Phase.READ, me.base(), me.snapshot(), me.writes());
            return state.marked(state.mark() + 1, holder).with(holder, raised);
        }
        if (!admitted) {
            return state.with(holder, phase(me, Phase.OVER, me.base(), me.writes()));
        }
        Optional<String> lost = me.base() == state.version()
                ? Optional.empty()
                : Optional.of("lost update: " + holder + " replaced version " + state.version() + " with work on "
                        + me.base());
        int mark = rule == Rule.AT_LEAST_ON_WRITE ? me.number() : state.mark();
        int markHolder = rule == Rule.AT_LEAST_ON_WRITE ? holder : state.markHolder();
        int next = state.version() + 1;
        boolean more = me.writes() + 1 < WRITES;
        State after = state.with(holder, phase(me, more ? Phase.READ : Phase.OVER, next, me.writes() + 1));
        return new State(mark, markHolder, next, after.sessions(), lost);
    }

    private static Session phase(Session session, Phase phase, int base, int writes) {
        return new Session(session.number(), phase, base, session.snapshot(), writes);
    }
}
