package dev.fenceline.s3;

import dev.fenceline.FencelineListener;
import java.time.Duration;
import java.util.Objects;
import java.util.Optional;
import java.util.function.BiFunction;
import software.amazon.awssdk.services.s3.S3Client;

/**
 * What can be set before a fence is made.
 *
 * <p><b>Thread-safety:</b> immutable; the methods that set something return a copy.
 *
 * @param <F> the fence
 */
public final class S3Setup<F extends ObjectFence<?>> {

    private final BiFunction<Store, FenceSettings, F> fence;
    private final FenceSettings settings;
    private final String probePrefix;
    private final Optional<S3ProbeReport> report;

    private S3Setup(
            BiFunction<Store, FenceSettings, F> fence,
            FenceSettings settings,
            String probePrefix,
            Optional<S3ProbeReport> report) {
        this.fence = fence;
        this.settings = settings;
        this.probePrefix = probePrefix;
        this.report = report;
    }

    static <F extends ObjectFence<?>> S3Setup<F> of(BiFunction<Store, FenceSettings, F> fence) {
        return new S3Setup<>(fence, FenceSettings.defaults(), S3Probe.PREFIX, Optional.empty());
    }

    private S3Setup<F> with(FenceSettings next) {
        return new S3Setup<>(fence, next, probePrefix, report);
    }

    /**
     * Limits how long one request of an envelope or pointer may take; 5 s unless set. Data that pointers name is sent and read for as
     * long as the client allows.
     *
     * @param timeout from 50 ms to 5 min
     * @return a copy with this limit
     * @throws IllegalArgumentException when it is out of range
     */
    public S3Setup<F> requestTimeout(Duration timeout) {
        return with(settings.withRequestTimeout(timeout));
    }

    /**
     * Has the store encrypt what is written. Without it, as the bucket says.
     *
     * @param encryption with which key
     * @return a copy with it
     */
    public S3Setup<F> encryption(S3Encryption encryption) {
        return with(settings.withEncryption(encryption));
    }

    /**
     * Sets who hears of claims, writes and refusals, in place of the listener that logs.
     *
     * @param listener hears of everything; see {@link FencelineListener#and} to keep the log
     * @return a copy with this listener
     */
    public S3Setup<F> listener(FencelineListener listener) {
        return with(settings.withListener(listener));
    }

    /**
     * Sets who hears how far data has come on its way.
     *
     * @param progress hears after each part
     * @return a copy with it
     */
    public S3Setup<F> progress(S3Progress progress) {
        return with(settings.withProgress(progress));
    }

    /**
     * Sets from which size on data is sent in several parts, and how large these are: 8 MiB unless set. A writer holds two of them in
     * memory, and S3 takes 10,000 at most.
     *
     * @param bytes from 5 MiB, the least that S3 takes, to 1 GiB
     * @return a copy with this size
     * @throws IllegalArgumentException when it is out of range
     */
    public S3Setup<F> partSize(int bytes) {
        return with(settings.withPartSize(bytes));
    }

    /**
     * Sets under which prefix the probe writes and removes its objects; {@code .fenceline-probe/} unless set.
     *
     * @param prefix of keys that nothing else uses
     * @return a copy with this prefix
     */
    public S3Setup<F> probePrefix(String prefix) {
        return new S3Setup<>(fence, settings, Objects.requireNonNull(prefix, "prefix"), report);
    }

    /**
     * Takes the report of an earlier probe of the same store in place of a probe of its own.
     *
     * <p>A program that starts often, such as a function in a cloud, need not probe each time. Probe when it is deployed, with {@code fenceline s3 probe} or
     * {@link S3Probe} and {@link S3ProbeReport#requireSafe()}, and only where that finds nothing unsafe give {@code new S3ProbeReport(name, etagForm, List.of())} here; the form is {@link EtagForm#AS_RECEIVED} unless the probe found
     * {@code s3-etag-unquoted}. Whoever does so vouches for the store: one that races, or was replaced by one, is not found out.
     *
     * @param earlier what {@link S3Probe#run()} returned
     * @return a copy that does not probe
     */
    public S3Setup<F> probed(S3ProbeReport earlier) {
        return new S3Setup<>(fence, settings, probePrefix, Optional.of(earlier));
    }

    /**
     * Makes the fence, after a look whether this store keeps what the fence needs: that of several writes on one condition exactly one
     * succeeds. In one JVM a client and a bucket are probed once with each encryption and prefix.
     *
     * <p><b>Blocking:</b> for the probe, a few hundred small requests; see {@link S3Probe}.
     *
     * @param client of the SDK, with an HTTP client that does not send a request again by itself, such as that of Apache; the caller closes it
     * @param bucket its name
     * @return a fence with these settings
     * @throws dev.fenceline.BackendMisconfiguredException when the store ignores conditions, races, changes bytes, or a right is missing; the message says what was
     *     seen
     * @throws dev.fenceline.BackendUnavailableException when the store does not answer
     */
    public F on(S3Client client, String bucket) {
        S3ProbeReport probed = report.orElseGet(() -> Probed.once(S3Probe.of(client, bucket)
                .prefix(probePrefix)
                .requestTimeout(settings.requestTimeout())
                .encryption(settings.encryption())));
        probed.requireSafe();
        return fence.apply(Store.of(client, bucket, probed.etagForm(), settings.encryption()), settings);
    }
}
