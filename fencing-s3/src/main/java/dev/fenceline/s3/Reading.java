package dev.fenceline.s3;

import java.time.Duration;
import java.util.Optional;

/**
 * Looks at documents without a claim.
 *
 * @param documents of one format in one bucket
 * @param requestTimeout for each try
 * @param step what it is for, as the subject of a sentence
 * @param <P> what the documents hold
 */
record Reading<P>(Documents<P> documents, Duration requestTimeout, String step) {

    private static final int TRIES = 3;

    /** One try. */
    @FunctionalInterface
    private interface Question<T> {
        T ask(Effort effort) throws Unanswered;
    }

    static <P> Reading<P> of(Documents<P> documents, FenceSettings settings, String step) {
        return new Reading<>(documents, settings.requestTimeout(), step);
    }

    /** A document of this format. */
    Optional<Version<P>> look(String key) {
        return upToThreeTimes(key, effort -> documents.look(key, effort).version());
    }

    /** Whatever there is. */
    Look raw(String key) {
        return upToThreeTimes(key, effort -> documents.store().get(key, effort));
    }

    private <T> T upToThreeTimes(String key, Question<T> question) {
        try (Effort effort = Effort.of(requestTimeout.multipliedBy(TRIES), requestTimeout)) {
            for (int i = 1; ; i++) {
                try {
                    return question.ask(effort);
                } catch (Unanswered e) {
                    if (i == TRIES || effort.isOver()) {
                        throw Refusals.unanswered(
                                step, documents.store().resource(key), "Nothing was changed; try again.", e.failure());
                    }
                }
                effort.pause(i);
            }
        }
    }
}
