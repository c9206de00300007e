package dev.fenceline.s3;

import java.util.Map;
import java.util.WeakHashMap;
import java.util.concurrent.ConcurrentHashMap;
import software.amazon.awssdk.services.s3.S3Client;

/** What was probed in this JVM already; forgotten with the client. */
final class Probed {

    private static final Map<S3Client, Map<Probe, S3ProbeReport>> REPORTS = new WeakHashMap<>();

    private Probed() {}

    /** All that changes what a store answers to one client, whose own settings never change. */
    private record Probe(String bucket, String prefix, S3Encryption encryption) {}

    /** Only what was found safe is kept: whoever has changed a setting tries again. */
    static S3ProbeReport once(S3Probe probe) {
        Map<Probe, S3ProbeReport> ofClient;
        synchronized (REPORTS) {
            ofClient = REPORTS.computeIfAbsent(probe.client(), client -> new ConcurrentHashMap<>());
        }
        Probe key = new Probe(probe.bucket(), probe.prefix(), probe.encryption());
        S3ProbeReport known = ofClient.get(key);
        if (known != null) {
            return known;
        }
        S3ProbeReport report = probe.run();
        if (report.isSafe()) {
            ofClient.put(key, report);
        }
        return report;
    }
}
