package dev.fenceline.s3;

import software.amazon.awssdk.services.s3.S3Client;

/**
 * The fence in S3. Make one per client and bucket, and keep it.
 *
 * <pre>{@code
 * EnvelopeFence fence = S3Fence.envelope().on(s3, "reports");
 * fence.under(locks.fenced(LockName.of("report", 2026)), "2026/summary.json").run(report -> {
 *     Optional<S3Content> before = report.read();
 *     report.write(S3Body.of(compute(before)).contentType("application/json"));
 * });
 * }</pre>
 *
 * <p>A check of the ETag over an object's own bytes protects nothing as soon as content may come back: an ETag may be the MD5 of the content, and
 * a late {@code If-Match} then passes over what others wrote in between. So each write has bytes of its own, whatever its content.
 *
 * <p>Of two formats one is chosen for each key, at its first claim, for good.
 */
public final class S3Fence {

    private S3Fence() {}

    /**
     * For bodies up to 16 KiB, which lie under their key as gzip and are read by anything that knows {@code Content-Encoding: gzip}.
     *
     * @return what can be set, and then {@link S3Setup#on}
     */
    public static S3Setup<EnvelopeFence> envelope() {
        return S3Setup.of(EnvelopeFence::new);
    }

    /**
     * For data of any size, and for several objects that change together.
     *
     * @return what can be set, and then {@link S3Setup#on}
     */
    public static S3Setup<PointerFence> pointer() {
        return S3Setup.of(PointerFence::new);
    }

    /**
     * For those who only read. Sends nothing yet.
     *
     * @param client of the SDK; the caller closes it
     * @param bucket its name
     * @return reads both formats
     */
    public static S3Reader reader(S3Client client, String bucket) {
        return S3Reader.of(client, bucket, FenceSettings.defaults());
    }
}
