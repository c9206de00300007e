package dev.fenceline.s3;

import dev.fenceline.BackendMisconfiguredException;
import dev.fenceline.Finding;
import java.util.List;
import java.util.stream.Collectors;

/**
 * What a probe has found out about a store.
 *
 * @param resource which store, without credentials
 * @param etagForm how it wants to have an ETag back
 * @param findings what is unsafe, and what is worth knowing; empty for most stores
 */
public record S3ProbeReport(String resource, EtagForm etagForm, List<Finding> findings) {

    /** Copies the findings. */
    public S3ProbeReport {
        findings = List.copyOf(findings);
    }

    /**
     * Tells whether a fence may rest on this store.
     *
     * @return false when a finding is an error
     */
    public boolean isSafe() {
        return errors().isEmpty();
    }

    private List<Finding> errors() {
        return findings.stream()
                .filter(finding -> finding.severity() == Finding.Severity.ERROR)
                .toList();
    }

    /**
     * Does nothing if a fence may rest on this store.
     *
     * @throws BackendMisconfiguredException when it may not; the message says what was seen, and what to do
     */
    public void requireSafe() {
        if (!isSafe()) {
            throw new BackendMisconfiguredException(
                    "Fence on " + resource + " refused. "
                            + errors().stream()
                                    .map(error -> error.subject() + " " + error.found() + ". " + error.remedy())
                                    .collect(Collectors.joining(" ")),
                    null);
        }
    }
}
