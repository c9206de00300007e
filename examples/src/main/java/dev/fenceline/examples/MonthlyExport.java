package dev.fenceline.examples;

import dev.fenceline.FencedLock;
import dev.fenceline.LockName;
import dev.fenceline.Locks;
import dev.fenceline.s3.PointerFence;
import dev.fenceline.s3.S3Body;
import dev.fenceline.s3.S3Stream;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Map;
import java.util.Optional;

/** Two objects in S3 that change together: readers find both as one write left them. */
final class MonthlyExport {

    private MonthlyExport() {}

    /** Replaces both, and returns the first line of one of them. */
    static Optional<String> replace(Path rows, String summary, Locks locks, PointerFence exports)
            throws InterruptedException {
        // snippet: monthly-export
        FencedLock lock = locks.fenced(LockName.of("export", "2026-11"));
        exports.under(lock, "2026-11/export")
                .run(export -> export.write(Map.of("rows.csv", S3Body.of(rows), "summary.txt", S3Body.of(summary))));

        Optional<S3Stream> stream = exports.open("2026-11/export", "rows.csv"); // without a lock; close it
        // end snippet
        return stream.map(MonthlyExport::firstLine);
    }

    private static String firstLine(S3Stream stream) {
        try (BufferedReader lines = new BufferedReader(new InputStreamReader(stream, StandardCharsets.UTF_8))) {
            return lines.readLine();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
