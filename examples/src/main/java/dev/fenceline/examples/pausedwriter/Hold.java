package dev.fenceline.examples.pausedwriter;

import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * For how long a writer held a lock, as Redis saw it.
 *
 * @param writer A or B
 * @param token of this grant
 * @param from granted
 * @param to released, or run out
 */
record Hold(String writer, long token, Instant from, Instant to) {

    /** Pairs each grant with its end. A release after the end of the lease frees nothing, and is not an end. */
    static List<Hold> of(List<Event> events) {
        Map<Long, Event> open = new LinkedHashMap<>();
        List<Hold> holds = new ArrayList<>();
        for (Event event : events) {
            if (event.kind() == Event.Kind.GRANTED) {
                open.put(event.token(), event);
            } else if (event.kind() == Event.Kind.RELEASED || event.kind() == Event.Kind.LEASE_ENDED) {
                Event grant = open.remove(event.token());
                if (grant != null) {
                    holds.add(new Hold(grant.actor(), grant.token(), grant.at(), event.at()));
                }
            }
        }
        return holds;
    }
}
