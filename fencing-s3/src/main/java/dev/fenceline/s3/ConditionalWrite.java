package dev.fenceline.s3;

import dev.fenceline.Hold;
import java.time.Duration;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * One write of a document on the condition that nothing was written since, and what became of it.
 *
 * @param <P> what the documents hold
 */
final class ConditionalWrite<P> {

    /** How often the same write is sent again that crossed another one in the store. */
    private static final int CONFLICTS = 3;

    private final Documents<P> documents;
    private final String key;
    private final Duration requestTimeout;
    private final @Nullable Hold lease;

    ConditionalWrite(Documents<P> documents, String key, Duration requestTimeout, @Nullable Hold lease) {
        this.documents = documents;
        this.key = key;
        this.requestTimeout = requestTimeout;
        this.lease = lease;
    }

    /**
     * What became of the write, and how to go on asking where that is not known.
     *
     * @param settlement empty when there was nothing to settle
     * @param failure what the client said of the write itself
     */
    record Outcome<P>(Verdict<P> verdict, Optional<Settlement<P>> settlement, Optional<RuntimeException> failure) {}

    Outcome<P> run(Version<P> base, Document<P> next) {
        Answer answer = send(base, next);
        if (answer instanceof Answer.Done done) {
            return new Outcome<>(
                    new Verdict.Applied<>(Optional.of(new Version<>(next, done.etag()))),
                    Optional.empty(),
                    Optional.empty());
        }
        Settlement<P> settlement =
                new Settlement<>(documents, key, base.document().header(), next.header(), answer);
        try (Effort effort = Effort.of(Patience.of(lease), requestTimeout)) {
            return new Outcome<>(settlement.run(effort), Optional.of(settlement), answer.failure());
        }
    }

    /** The same bytes with the same id each time, so it does no harm if an earlier one of them lands after all. */
    private Answer send(Version<P> base, Document<P> next) {
        Condition condition = Condition.unchanged(base.etag());
        try (Effort effort = Effort.of(requestTimeout, requestTimeout)) {
            Answer answer = documents.put(key, next, condition, effort);
            for (int i = 0; answer instanceof Answer.Conflict && i < CONFLICTS && !effort.isOver(); i++) {
                effort.pause(i);
                answer = documents.put(key, next, condition, effort);
            }
            return answer;
        }
    }
}
