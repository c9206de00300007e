package dev.fenceline.bench;

import java.util.Arrays;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;

/** Who runs, in the order of the tables. */
enum Entrant {
    PING("ping", "2 × PING", Waits.NEVER),
    HAND("hand", "hand: EVALSHA + EVALSHA", Waits.NEVER),
    FENCED("fenced", "Fenceline, fenced", Waits.IN_LINE),
    EFFICIENCY("efficiency", "Fenceline, efficiency", Waits.IN_LINE),
    REDISSON("redisson", "Redisson RLock", Waits.IN_LINE),
    REDISSON_FENCED("redisson-fenced", "Redisson RFencedLock", Waits.IN_LINE),
    REDISSON_FAIR("redisson-fair", "Redisson FairLock", Waits.IN_LINE),
    SPRING("spring", "Spring Integration, pub-sub", Waits.IN_LINE),
    SHEDLOCK("shedlock", "ShedLock", Waits.NEVER),
    CURATOR("curator", "Curator, ZooKeeper", Waits.IN_LINE);

    /** Whether a second caller waits for the first, or is told at once. */
    private enum Waits {
        NEVER,
        IN_LINE
    }

    private final String key;
    private final String label;
    private final Waits waits;

    Entrant(String key, String label, Waits waits) {
        this.key = key;
        this.label = label;
        this.waits = waits;
    }

    /** How it is chosen on the command line. */
    String key() {
        return key;
    }

    /** How it reads in a table. */
    String label() {
        return label;
    }

    boolean waits() {
        return waits == Waits.IN_LINE;
    }

    /** Reads a list of keys separated by commas; the empty text means all. */
    static Set<Entrant> parse(String text) {
        if (text.isBlank()) {
            return EnumSet.allOf(Entrant.class);
        }
        Set<Entrant> chosen = EnumSet.noneOf(Entrant.class);
        for (String key : text.split(",", -1)) {
            chosen.add(of(key.strip()));
        }
        return chosen;
    }

    static Entrant of(String key) {
        return Arrays.stream(values())
                .filter(entrant -> entrant.key.equals(key))
                .findFirst()
                .orElseThrow(() -> new IllegalArgumentException("No contestant '" + key + "'; there are "
                        + Arrays.stream(values()).map(Entrant::key).collect(Collectors.joining(", ")) + "."));
    }

    /** Those of a set that can wait for a lock. */
    static List<Entrant> waiting(Set<Entrant> chosen) {
        return chosen.stream().filter(Entrant::waits).toList();
    }
}
