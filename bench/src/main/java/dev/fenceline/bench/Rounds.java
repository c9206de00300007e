package dev.fenceline.bench;

import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.List;
import java.util.Random;

/**
 * Runs contestants in turns: in each round all of them, one short slice each, in a new order. Whatever the machine does
 * meanwhile hits all alike.
 */
final class Rounds {

    private final Settings settings;

    Rounds(Settings settings) {
        this.settings = settings;
    }

    /** One slice of one contestant, as the number that is to be compared. */
    @FunctionalInterface
    interface Slice<E> {
        double measure(E entrant, Phase phase) throws Exception;
    }

    /** Whether a slice counts. */
    enum Phase {
        WARM_UP,
        MEASURED
    }

    <E> Paired<E> run(Collection<E> entrants, Slice<E> slice) throws Exception {
        Random order = new Random(settings.seed());
        List<E> turns = new ArrayList<>(entrants);
        Paired<E> paired = new Paired<>();
        for (int round = -settings.warmUps(); round < settings.rounds(); round++) {
            Collections.shuffle(turns, order);
            for (E entrant : turns) {
                if (round < 0) {
                    double unused = slice.measure(entrant, Phase.WARM_UP);
                } else {
                    paired.add(entrant, slice.measure(entrant, Phase.MEASURED));
                }
            }
        }
        return paired;
    }
}
