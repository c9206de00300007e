package dev.fenceline.examples;

import dev.fenceline.FencedLock;
import dev.fenceline.LockName;
import dev.fenceline.Locks;
import dev.fenceline.lock.RedisLocks;
import dev.fenceline.s3.EnvelopeFence;
import dev.fenceline.s3.S3Body;
import dev.fenceline.s3.S3Content;
import dev.fenceline.s3.S3Fence;
import software.amazon.awssdk.services.s3.S3Client;

/** A report in S3 that several machines go on with. */
public final class YearReport {

    private YearReport() {}

    /**
     * Adds a line to the report of 2026. The client of S3 is that of the environment.
     *
     * @param args the URI of Redis, the name of a bucket and a line
     * @throws InterruptedException while waiting for the lock
     */
    public static void main(String[] args) throws InterruptedException {
        try (S3Client s3 = S3Client.create();
                Locks locks = RedisLocks.connect(args[0])) {
            System.out.println(add(args[2], locks, s3, args[1]));
        }
    }

    /** Returns the report as it is afterwards. */
    static String add(String line, Locks locks, S3Client s3, String bucket) throws InterruptedException {
        // snippet: year-report
        // Once, at the start of the program: it sends some 500 requests to find out whether the store can bear a fence.
        EnvelopeFence reports = S3Fence.envelope().on(s3, bucket);

        FencedLock lock = locks.fenced(LockName.of("report", 2026));
        reports.under(lock, "2026/report.txt").run(report -> {
            String before = report.read().map(S3Content::text).orElse(""); // as of its last write, by whomever
            report.write(S3Body.of(before + line + "\n").contentType("text/plain"));
        });
        return reports.read("2026/report.txt").map(S3Content::text).orElse(""); // without a lock
        // end snippet
    }
}
