package dev.fenceline.bench;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * One number of each contestant for each round. Contestants are compared within a round, where the machine was in one mood;
 * the ratios of all rounds then have a median and a spread.
 *
 * @param <E> who is compared
 */
final class Paired<E> {

    private final Map<E, List<Double>> byEntrant = new HashMap<>();

    void add(E entrant, double number) {
        byEntrant.computeIfAbsent(entrant, first -> new ArrayList<>()).add(number);
    }

    boolean has(E entrant) {
        return byEntrant.containsKey(entrant);
    }

    Quartiles of(E entrant) {
        return Quartiles.of(numbers(entrant));
    }

    Quartiles ratio(E entrant, E to) {
        List<Double> numbers = numbers(entrant);
        List<Double> others = numbers(to);
        if (numbers.size() != others.size()) {
            throw new IllegalStateException(entrant + " ran " + numbers.size() + " rounds and " + to + " "
                    + others.size() + "; they cannot be paired.");
        }
        List<Double> ratios = new ArrayList<>();
        for (int round = 0; round < numbers.size(); round++) {
            ratios.add(numbers.get(round) / others.get(round));
        }
        return Quartiles.of(ratios);
    }

    private List<Double> numbers(E entrant) {
        return byEntrant.getOrDefault(entrant, List.of());
    }
}
