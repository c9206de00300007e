package dev.fenceline.verification.model;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * The token rule of one Redis server, over every order of grants, ticks of the clock, backward steps of it, data loss, restarts
 * and failovers to a replica that lags by any number of writes: no token is repeated, and none is below one that was issued
 * before.
 *
 * <p>Time is in ticks. S ticks of grants may run ahead of the clock. The clocks of two nodes agree within K, and step back
 * together. A step is tolerated where the newest token is no more than S ahead of the clock after it: what tokens were ahead
 * before counts as well as the step. A greater step harms only if data is lost before the clock has caught up.
 */
class TokenRuleModelTest {

    private static final int S = 2;
    private static final int K = 1;
    private static final int LAST_TICK = 6;
    private static final int MAX_FAULTS = 2;
    private static final int MAX_STEPS = 2;

    /** Which backward steps of the clock happen. */
    private enum Steps {
        TOLERATED,
        /** Less than S each, and at any time: also when tokens are ahead by S already. */
        BELOW_S
    }

    /** How tokens are made. Only FULL is safe; the others each leave out one part. */
    enum Rule {
        FULL,
        /** What all peers do. */
        PLAIN_INCREMENT,
        /** A lost counter starts at the clock, not S beyond it. */
        REBORN_AT_THE_CLOCK,
        /** A node that was restarted or promoted is not noticed as long as it has a counter. */
        NO_INCARNATION,
        /** Grants may run ahead of the clock without a bound. */
        NO_FUTURE_BOUND
    }

    /** What a node stores: its counter (0 = missing) and the incarnation in its boot key (0 = missing). */
    record Data(int counter, int boot) {}

    /**
     * The master's data, the replica's (some earlier state of it), the true time, by how much the master's clock lags behind it,
     * how many incarnations there were, the highest token issued, how many faults and backward steps there were, by how much the
     * clocks were set back in all, and the first violation.
     */
    record State(
            Data master,
            Data replica,
            int time,
            int lag,
            int incarnation,
            int highest,
            int faults,
            int steps,
            int back,
            Optional<String> wrong) {

        int clock() {
            return time - back - lag;
        }

        State at(int tick) {
            return new State(master, replica, tick, lag, incarnation, highest, faults, steps, back, wrong);
        }

        State holding(Data inMaster, Data inReplica) {
            return new State(inMaster, inReplica, time, lag, incarnation, highest, faults, steps, back, wrong);
        }

        State fault(Data inMaster, Data inReplica, int nowLag, int nowIncarnation) {
            return new State(
                    inMaster, inReplica, time, nowLag, nowIncarnation, highest, faults + 1, steps, back, wrong);
        }

        State setBack(int by) {
            return new State(master, replica, time, lag, incarnation, highest, faults, steps + 1, back + by, wrong);
        }

        /** By the clock that runs ahead of the others: a failover to one that is K behind may still follow. */
        boolean tolerates(int step) {
            return highest <= time - back - step + S;
        }

        State issued(int token) {
            Optional<String> violation =
                    token > highest ? Optional.empty() : Optional.of("token " + token + " issued after " + highest);
            Data stored = new Data(token, incarnation);
            return new State(
                    stored, replica, time, lag, incarnation, Math.max(token, highest), faults, steps, back, violation);
        }
    }

    @Test
    void theFullRuleNeverRepeatsOrLowersAToken() {
        Explorer.Result result = explore(Rule.FULL, Steps.TOLERATED);
        assertThat(result.violation()).isEmpty();
        assertThat(result.states()).isGreaterThan(500);
    }

    /** The limit of the rule, kept so that nobody claims more. */
    @Test
    void aStepBelowSTogetherWithALossOfDataWhileTokensAreAheadRepeatsAToken() {
        assertThat(explore(Rule.FULL, Steps.BELOW_S).violation())
                .hasValueSatisfying(trace -> assertThat(trace)
                        .anyMatch(label -> label.startsWith("clock back"))
                        .anyMatch(label -> label.startsWith("failover")));
    }

    @ParameterizedTest
    @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "FULL")
    void eachPartOfTheRuleIsNeeded(Rule rule) {
        assertThat(explore(rule, Steps.TOLERATED).violation())
                .as("the model sees the fault of %s", rule)
                .isPresent();
    }

    private static Explorer.Result explore(Rule rule, Steps back) {
        State initial = new State(new Data(0, 0), new Data(0, 0), 1, 0, 1, 0, 0, 0, 0, Optional.empty());
        return Explorer.explore(initial, state -> steps(state, rule, back), State::wrong);
    }

    private static List<Explorer.Step<State>> steps(State s, Rule rule, Steps back) {
        List<Explorer.Step<State>> steps = new ArrayList<>();
        grant(s, rule).ifPresent(next -> steps.add(new Explorer.Step<>("grant at " + s.clock(), next)));
        if (s.time() < LAST_TICK) {
            steps.add(new Explorer.Step<>("tick", s.at(s.time() + 1)));
        }
        if (!s.replica().equals(s.master())) {
            steps.add(new Explorer.Step<>("replicate", s.holding(s.master(), s.master())));
        }
        for (int by = 1; by <= S && s.steps() < MAX_STEPS && s.clock() - by > 0; by++) {
            if (back == Steps.BELOW_S ? by < S : s.tolerates(by)) {
                steps.add(new Explorer.Step<>("clock back by " + by, s.setBack(by)));
            }
        }
        if (s.faults() < MAX_FAULTS) {
            Data nothing = new Data(0, 0);
            int reborn = s.incarnation() + 1;
            steps.add(new Explorer.Step<>("FLUSHALL", s.fault(nothing, nothing, s.lag(), s.incarnation())));
            steps.add(new Explorer.Step<>("restart without data", s.fault(nothing, nothing, s.lag(), reborn)));
            steps.add(new Explorer.Step<>("restart with data", s.fault(s.master(), s.replica(), s.lag(), reborn)));
            for (int lag = 0; lag <= K; lag++) {
                steps.add(new Explorer.Step<>(
                        "failover to a clock " + lag + " behind", s.fault(s.replica(), s.replica(), lag, reborn)));
            }
        }
        return steps;
    }

    private static Optional<State> grant(State s, Rule rule) {
        int counter = s.master().counter();
        if (rule == Rule.PLAIN_INCREMENT) {
            return Optional.of(s.issued(counter + 1));
        }
        boolean lost = counter == 0 || s.master().boot() == 0;
        boolean reborn = s.master().boot() != s.incarnation();
        boolean jumps = rule == Rule.NO_INCARNATION ? counter == 0 : lost || reborn;
        if (jumps) {
            int target = rule == Rule.REBORN_AT_THE_CLOCK ? s.clock() : s.clock() + S + K;
            counter = Math.max(counter, target);
        }
        int token = Math.max(counter + 1, s.clock());
        if (token > s.clock() + S && rule != Rule.NO_FUTURE_BOUND) {
            // Refused: wait. A jump is kept, so that the wait ends.
            Data jumped = new Data(counter, s.incarnation());
            return jumped.equals(s.master()) ? Optional.empty() : Optional.of(s.holding(jumped, s.replica()));
        }
        return Optional.of(s.issued(token));
    }
}
