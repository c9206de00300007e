package dev.fenceline.bench;

import java.util.List;

/**
 * What a scenario found.
 *
 * @param id names its block in the page
 * @param body Markdown, without a heading
 * @param targets the design's limits that it decides
 */
record Section(String id, String body, List<Target> targets) {

    Section {
        targets = List.copyOf(targets);
    }
}
