package dev.fenceline.s3;

import java.util.Map;
import java.util.WeakHashMap;
import java.util.concurrent.ConcurrentHashMap;
import software.amazon.awssdk.services.s3.S3Client;

/** What was probed in this JVM already; forgotten with the client. */
final class Probed {

    private static final Map<S3Client, Map<String, S3ProbeReport>> REPORTS = new WeakHashMap<>();

    private Probed() {}

    /** Only what was found safe is kept: whoever has changed a setting tries again. */
    static S3ProbeReport once(S3Probe probe) {
        Map<String, S3ProbeReport> ofClient;
        synchronized (REPORTS) {
            ofClient = REPORTS.computeIfAbsent(probe.client(), client -> new ConcurrentHashMap<>());
        }
        S3ProbeReport known = ofClient.get(probe.bucket());
        if (known != null) {
            return known;
        }
        S3ProbeReport report = probe.run();
        if (report.isSafe()) {
            ofClient.put(probe.bucket(), report);
        }
        return report;
    }
}
