package dev.fenceline.examples.pausedwriter;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;

/**
 * A balance that is wrong at the end of a run.
 *
 * @param account whose
 * @param expectedCents by the file of movements
 * @param actualCents in the database
 */
record BookError(String account, long expectedCents, long actualCents) {

    long differenceCents() {
        return actualCents - expectedCents;
    }

    static List<BookError> between(SortedMap<String, Long> expected, Map<String, Long> actual) {
        if (!expected.keySet().equals(actual.keySet())) {
            throw new IllegalStateException("The database holds the accounts " + actual.keySet()
                    + " where the file has " + expected.keySet() + ".");
        }
        List<BookError> errors = new ArrayList<>();
        expected.forEach((account, cents) -> {
            long found = actual.getOrDefault(account, 0L);
            if (found != cents) {
                errors.add(new BookError(account, cents, found));
            }
        });
        return List.copyOf(errors);
    }
}
