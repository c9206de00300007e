package dev.fenceline.s3;

import java.util.List;
import java.util.Map;

/**
 * What a clean-up did.
 *
 * @param removed what is gone
 * @param kept what the store did not let go, and what it said; so with Object Lock. The next clean-up tries again
 */
public record Cleaned(List<Garbage> removed, Map<Garbage, String> kept) {

    /** Copies both. */
    public Cleaned {
        removed = List.copyOf(removed);
        kept = Map.copyOf(kept);
    }
}
