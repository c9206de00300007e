package dev.fenceline.verification.model;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;

/**
 * Visits every state that a model can reach, breadth first, so that the first violation found has a shortest trace.
 *
 * <p>States must be values: equal states are visited once.
 */
final class Explorer {

    /** One step that the model may take: what happened, and the state after it. */
    record Step<S>(String label, S next) {}

    /** What was found: how many states there are, and the shortest way into a violation if there is one. */
    record Result(int states, Optional<List<String>> violation) {}

    private record Reached<S>(S from, String label) {}

    /**
     * Explores.
     *
     * @param initial the first state
     * @param steps all steps out of a state
     * @param violation what is wrong with a state, if anything is
     */
    static <S> Result explore(S initial, Function<S, List<Step<S>>> steps, Function<S, Optional<String>> violation) {
        Map<S, Optional<Reached<S>>> seen = new HashMap<>();
        Deque<S> queue = new ArrayDeque<>();
        seen.put(initial, Optional.empty());
        queue.add(initial);
        while (!queue.isEmpty()) {
            S state = queue.remove();
            Optional<String> wrong = violation.apply(state);
            if (wrong.isPresent()) {
                return new Result(seen.size(), Optional.of(trace(state, wrong.get(), seen)));
            }
            for (Step<S> step : steps.apply(state)) {
                if (seen.putIfAbsent(step.next(), Optional.of(new Reached<>(state, step.label()))) == null) {
                    queue.add(step.next());
                }
            }
        }
        return new Result(seen.size(), Optional.empty());
    }

    private static <S> List<String> trace(S state, String wrong, Map<S, Optional<Reached<S>>> seen) {
        List<String> labels = new ArrayList<>(List.of(wrong));
        Optional<Reached<S>> reached = seen.get(state);
        while (reached.isPresent()) {
            labels.add(reached.get().label());
            reached = seen.get(reached.get().from());
        }
        Collections.reverse(labels);
        return labels;
    }

    private Explorer() {}
}
