package dev.fenceline.s3;

import dev.fenceline.BackendMisconfiguredException;
import dev.fenceline.BackendUnavailableException;
import dev.fenceline.FencingToken;
import dev.fenceline.Finding;
import dev.fenceline.LockName;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.UUID;
import java.util.function.Consumer;
import software.amazon.awssdk.awscore.AwsRequestOverrideConfiguration;
import software.amazon.awssdk.services.s3.S3Client;

/**
 * Finds out by trying whether a store keeps what a fence rests on, since stores that call themselves compatible with S3 differ in just
 * that: some ignore conditions, some check and then write and lose a race in between, some want the ETag without its quotes, some store other
 * bytes than were sent.
 *
 * <p><b>Guarantees:</b> writes, reads and removes objects under its prefix only.
 *
 * <p><b>Not guaranteed:</b> that a race which the store loses rarely is seen. In 50 races of 8 writers each waits, in the middle of its request, until
 * the store has the beginning of all of them. A store that looks at the condition before it has the whole body then loses nearly every
 * race, on a busy machine too; one that looks after that, in one of ten or so. A store that loses one of ten is found with a
 * probability of 98 %. Races that nobody wins are run again and do not count.
 *
 * <p><b>Blocking:</b> some 500 small requests, 8 at a time; a client with fewer connections makes the writers of each race wait for half a second.
 *
 * <p><b>Interruption:</b> the flag is kept.
 *
 * <p><b>Thread-safety:</b> immutable; the methods that set something return a copy.
 */
public final class S3Probe {

    static final String PREFIX = ".fenceline-probe/";

    private static final int TRIES = 3;
    private static final int REPLACING = 40;
    private static final int CREATING = 10;
    private static final LockName LOCK = LockName.of("fenceline-probe");
    private static final Attributes ATTRIBUTES =
            Attributes.none().withContentType("text/plain").withMetadata("fenceline-probe", "kept");

    private final Store store;
    private final String prefix;
    private final Duration requestTimeout;

    private S3Probe(Store store, String prefix, Duration requestTimeout) {
        this.store = store;
        this.prefix = prefix;
        this.requestTimeout = requestTimeout;
    }

    /**
     * Probes a bucket, with the defaults.
     *
     * @param client of the SDK; the caller closes it
     * @param bucket its name
     * @return sends nothing before {@link #run()}
     */
    public static S3Probe of(S3Client client, String bucket) {
        FenceSettings defaults = FenceSettings.defaults();
        return new S3Probe(
                Store.of(client, bucket, EtagForm.AS_RECEIVED, defaults.encryption()),
                PREFIX,
                defaults.requestTimeout());
    }

    /**
     * Sets where objects are written and removed.
     *
     * @param chosen of keys that nothing else uses
     * @return a copy with this prefix
     */
    public S3Probe prefix(String chosen) {
        return new S3Probe(store, Objects.requireNonNull(chosen, "prefix"), requestTimeout);
    }

    /**
     * Limits how long one request may take; 5 s unless set.
     *
     * @param timeout of one request
     * @return a copy with this limit
     */
    public S3Probe requestTimeout(Duration timeout) {
        return new S3Probe(store, prefix, timeout);
    }

    /**
     * Has the store encrypt what is written.
     *
     * @param encryption as the fence will
     * @return a copy with it
     */
    public S3Probe encryption(S3Encryption encryption) {
        return new S3Probe(
                new Store(store.client(), store.bucket(), EtagForm.AS_RECEIVED, encryption), prefix, requestTimeout);
    }

    String bucket() {
        return store.bucket();
    }

    String prefix() {
        return prefix;
    }

    S3Encryption encryption() {
        return store.encryption();
    }

    S3Client client() {
        return store.client();
    }

    /**
     * Probes.
     *
     * @return what was found, unsafe or not
     * @throws BackendMisconfiguredException when the store refuses a request for a reason that lasts: a missing right, no such bucket
     * @throws BackendUnavailableException when the store does not answer
     */
    public S3ProbeReport run() {
        return new Run(store).report();
    }

    /** What one probe has found so far. */
    private final class Run {

        private final String folder = prefix + UUID.randomUUID() + "/";
        private final List<Finding> findings = new ArrayList<>();
        private final List<String> keys = new ArrayList<>();
        private Store as;

        Run(Store as) {
            this.as = as;
        }

        S3ProbeReport report() {
            try {
                probe();
            } finally {
                removeAll();
            }
            return new S3ProbeReport(subject(), as.etags(), findings);
        }

        private String subject() {
            return "S3 bucket '" + store.bucket() + "'";
        }

        private void probe() {
            String key = newKey("sequence");
            Documents.Seen<byte[]> nothing = look(key);
            if (createsTwice(key) || changesBytes(key) || mismatches(key) || createsByMatching()) {
                return;
            }
            if (nothing.date().isEmpty()) {
                error(
                        "s3-no-date",
                        "answers without a Date header, so a token from the far future cannot be told",
                        "Let what stands in front of the store pass the header on.");
                return;
            }
            Race race = new Race(as, requestTimeout, signing());
            if (race(CREATING, race::creating)) {
                race(REPLACING, race::replacing);
            }
        }

        /** The store, or the credentials, may want bodies to be signed; then the writers of the races sign theirs. */
        private Consumer<AwsRequestOverrideConfiguration.Builder> signing() {
            try (Effort effort = Effort.of(requestTimeout, requestTimeout)) {
                Answer answer = as.put(
                        newKey("unsigned"),
                        Formats.ENVELOPE,
                        document("unsigned"),
                        Condition.absent(),
                        effort,
                        BodyUnsigned::on);
                return answer instanceof Answer.Done ? BodyUnsigned::on : request -> {};
            } catch (BackendMisconfiguredException e) {
                return request -> {};
            }
        }

        private boolean createsTwice(String key) {
            if (!(put(as, key, document("first"), Condition.absent()) instanceof Answer.Done)) {
                return error(
                        "s3-if-none-match-refused",
                        "refuses If-None-Match: * where there is no object",
                        "Use a store with conditional writes.");
            }
            return put(as, key, document("second"), Condition.absent()) instanceof Answer.Done
                    && error(
                            "s3-if-none-match-ignored",
                            "ignores If-None-Match: it wrote over an object that was there",
                            "Use a store with conditional writes, or a newer release of this one.");
        }

        private boolean changesBytes(String key) {
            Look.Found found = raw(key).found()
                    .orElseThrow(() -> new BackendMisconfiguredException(
                            subject() + " does not return an object that it has just written.", null));
            if (!isReadable(found)) {
                return error(
                        "s3-bytes-changed",
                        "does not return the bytes that were written",
                        "Set chunkedEncodingEnabled(false) and requestChecksumCalculation(WHEN_REQUIRED) on the client; else what stands in"
                                + " front of the store changes content.");
            }
            if (!found.contentEncoding().equals(Formats.ENVELOPE.contentEncoding())) {
                return error(
                        "s3-encoding-changed",
                        "returns the Content-Encoding '"
                                + found.contentEncoding().orElse("") + "' where 'gzip' was written",
                        "Set chunkedEncodingEnabled(false) and requestChecksumCalculation(WHEN_REQUIRED) on the client.");
            }
            return !found.attributes().equals(ATTRIBUTES)
                    && error(
                            "s3-metadata-lost",
                            "does not return the content type and the metadata that were written, but "
                                    + found.attributes(),
                            "Use a store that keeps them: a claim writes them again as they were.");
        }

        private boolean isReadable(Look.Found found) {
            try {
                return Arrays.equals(
                        Formats.ENVELOPE
                                .decode(found.bytes(), found.attributes())
                                .payload(),
                        "first".getBytes(StandardCharsets.UTF_8));
            } catch (IllegalArgumentException e) {
                return false;
            }
        }

        private boolean mismatches(String key) {
            String first = etag(key);
            Answer matching = put(as, key, document("matching"), Condition.unchanged(first));
            if (!(matching instanceof Answer.Done)) {
                as = new Store(store.client(), store.bucket(), EtagForm.UNQUOTED, store.encryption());
                matching = put(as, key, document("matching"), Condition.unchanged(first));
                if (!(matching instanceof Answer.Done)) {
                    return error(
                            "s3-if-match-refused",
                            "refuses If-Match with the ETag that it returned, " + first,
                            "Let nothing in front of the store change ETags; or use a store with conditional writes.");
                }
                findings.add(new Finding(
                        "s3-etag-unquoted",
                        Finding.Severity.INFO,
                        subject(),
                        "wants the ETag of If-Match without quotes",
                        "Nothing has to be done: the fence sends it so."));
            }
            // A session never looks at what it has written itself.
            if (matching instanceof Answer.Done done
                    && !(put(as, key, document("following"), Condition.unchanged(done.etag()))
                            instanceof Answer.Done)) {
                return error(
                        "s3-etag-of-write",
                        "refuses If-Match with the ETag that it returned for a write, " + done.etag(),
                        "Let nothing in front of the store change ETags; each write rests on that of the write before.");
            }
            String second = etag(key);
            if (second.equals(first)) {
                return error(
                        "s3-etag-repeated",
                        "returned one ETag, " + first + ", for two different contents",
                        "Use a store whose ETag depends on the content.");
            }
            return put(as, key, document("late"), Condition.unchanged(first)) instanceof Answer.Done
                    && error(
                            "s3-if-match-ignored",
                            "ignores If-Match: it wrote over an object that had changed",
                            "Use a store with conditional writes, or a newer release of this one.");
        }

        private boolean createsByMatching() {
            String key = newKey("missing");
            boolean written =
                    put(as, key, document("missing"), Condition.unchanged("\"d41d8cd98f00b204e9800998ecf8427e\""))
                            instanceof Answer.Done;
            return (written || look(key).version().isPresent())
                    && error(
                            "s3-if-match-creates",
                            "wrote an object that was not there on the condition that it had not changed",
                            "Use a store with conditional writes, or a newer release of this one.");
        }

        private boolean race(int rounds, Race.Kind kind) {
            Optional<String> lost = kind.run(rounds, () -> newKey("race"));
            lost.ifPresent(
                    seen -> error(
                            "s3-race",
                            "loses races: " + seen,
                            "It checks a condition and then writes, and others write in between. Use a store that does both in one step."));
            return lost.isEmpty();
        }

        private boolean error(String code, String found, String remedy) {
            findings.add(new Finding(code, Finding.Severity.ERROR, subject(), found, remedy));
            return true;
        }

        private String newKey(String name) {
            String key = folder + name + "-" + keys.size();
            keys.add(key);
            return key;
        }

        private String etag(String key) {
            return look(key).version().orElseThrow().etag();
        }

        private Documents.Seen<byte[]> look(String key) {
            Look look = raw(key);
            return new Documents.Seen<>(
                    look.found()
                            .map(found -> new Version<>(
                                    Formats.ENVELOPE.decode(found.bytes(), found.attributes()), found.etag())),
                    look.date());
        }

        private Look raw(String key) {
            return new Reading<>(new Documents<>(as, Formats.ENVELOPE), requestTimeout, "Probe").raw(key);
        }

        private Answer put(Store store, String key, Document<byte[]> document, Condition condition) {
            try (Effort effort = Effort.of(requestTimeout.multipliedBy(TRIES), requestTimeout)) {
                Answer answer = store.put(key, Formats.ENVELOPE, document, condition, effort);
                for (int i = 1; i < TRIES && answer instanceof Answer.Conflict; i++) {
                    effort.pause(i);
                    answer = store.put(key, Formats.ENVELOPE, document, condition, effort);
                }
                if (answer instanceof Answer.Unclear unclear) {
                    throw Refusals.unanswered(
                            "Probe",
                            store.resource(key),
                            "Nothing but the probe's own objects was touched; try again.",
                            unclear.cause());
                }
                return answer;
            }
        }

        private void removeAll() {
            for (String key : keys) {
                try {
                    store.client()
                            .deleteObject(
                                    delete -> delete.bucket(store.bucket()).key(key));
                } catch (RuntimeException e) {
                    // Of an interceptor too, or of a client that was closed. They are small and lie under a prefix of
                    // their own; what the probe found counts more.
                    return;
                }
            }
        }
    }

    /** Some document, unlike any other. */
    static Document<byte[]> document(String body) {
        return document(body.getBytes(StandardCharsets.UTF_8));
    }

    static Document<byte[]> document(byte[] body) {
        return new Document<>(
                Header.first(S3Format.ENVELOPE, new FencingToken(LOCK, 1, UUID.randomUUID()))
                        .next(Header.State.DATA),
                body,
                ATTRIBUTES);
    }
}
