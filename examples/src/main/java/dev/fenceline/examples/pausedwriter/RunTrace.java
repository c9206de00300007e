package dev.fenceline.examples.pausedwriter;

import java.time.Instant;
import java.util.Comparator;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * All that is known of one run: rows for what the database took, event files for the rest.
 *
 * @param result how it ended
 * @param events of all processes, this run's only, by time
 * @param claims by time
 * @param history by time
 */
record RunTrace(RunResult result, List<Event> events, List<AdmittedClaim> claims, List<AcceptedWrite> history) {

    RunTrace {
        events = events.stream().sorted(Comparator.comparing(Event::at)).toList();
        claims = claims.stream().sorted(Comparator.comparing(AdmittedClaim::at)).toList();
        history =
                history.stream().sorted(Comparator.comparing(AcceptedWrite::at)).toList();
    }

    Mode mode() {
        return result.mode();
    }

    Instant start() {
        return instants().min(Comparator.naturalOrder()).orElse(Instant.EPOCH);
    }

    Instant end() {
        return instants().max(Comparator.naturalOrder()).orElse(Instant.EPOCH);
    }

    List<Event> eventsOf(Scene scene) {
        return events.stream().filter(event -> event.scene() == scene).toList();
    }

    List<AcceptedWrite> historyOf(Scene scene) {
        return history.stream().filter(write -> write.scene() == scene).toList();
    }

    /** A claim belongs to the scene in which its token was granted; the database does not know of scenes. */
    List<AdmittedClaim> claimsOf(Scene scene) {
        Set<Long> granted = eventsOf(scene).stream()
                .filter(event -> event.kind() == Event.Kind.GRANTED)
                .map(Event::token)
                .collect(Collectors.toSet());
        return claims.stream().filter(claim -> granted.contains(claim.token())).toList();
    }

    private Stream<Instant> instants() {
        return Stream.of(
                        events.stream().map(Event::at),
                        claims.stream().map(AdmittedClaim::at),
                        history.stream().map(AcceptedWrite::at))
                .flatMap(all -> all);
    }
}
