package dev.fenceline.s3;

import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import software.amazon.awssdk.core.exception.SdkException;
import software.amazon.awssdk.services.s3.model.ListMultipartUploadsResponse;
import software.amazon.awssdk.services.s3.model.ListObjectsV2Response;
import software.amazon.awssdk.services.s3.model.MultipartUpload;
import software.amazon.awssdk.services.s3.model.S3Object;

/**
 * Finds and removes data that nobody can reach any more.
 *
 * <p>The pointer is read first and the data listed after that. Data is removed only if the pointer does not name it and its token is older
 * than the pointer's: its writer was overtaken before the list was made, and can never make a pointer name it. Data of the pointer's
 * own token may be about to be named, and data of a newer token came after the pointer was read; both stay. What a pointer
 * names later it named before, or has sent anew; so what was out of reach stays so.
 *
 * <p>The grace age spares readers who have read an older pointer and not yet the data; else they read the pointer again. It counts from
 * when the data was written: when it was replaced stands nowhere.
 */
final class CleanUp {

    private final Reading<List<DataObject>> reading;
    private final Store store;

    CleanUp(Reading<List<DataObject>> reading) {
        this.reading = reading;
        this.store = reading.documents().store();
    }

    List<Garbage> find(String key, Duration grace) {
        if (grace.isNegative()) {
            throw new IllegalArgumentException(
                    "The grace age of " + grace.toMillis() + " ms is negative; zero gives readers no time at all.");
        }
        Optional<Version<List<DataObject>>> pointer = reading.look(key);
        if (pointer.isEmpty()) {
            // Without a mark nothing is overtaken.
            return List.of();
        }
        String folder = DataStore.folder(key);
        Document<List<DataObject>> document = pointer.get().document();
        Set<String> named = document.payload().stream().map(DataObject::key).collect(Collectors.toSet());
        Predicate<String> outOfReach = found -> !named.contains(found)
                && DataStore.tokenOf(folder, found)
                        .map(token -> token < document.token().value())
                        .orElse(false);
        try {
            List<Garbage> garbage = new ArrayList<>(data(folder, grace, outOfReach));
            garbage.addAll(uploads(folder, grace, outOfReach));
            return List.copyOf(garbage);
        } catch (SdkException e) {
            throw failed(key, e);
        } catch (RuntimeException e) {
            throw Refusals.orClosed("Clean-up", store.resource(key), e);
        }
    }

    private RuntimeException failed(String key, SdkException e) {
        return Failures.isSetting(e)
                ? Refusals.setting("Clean-up", store.resource(key), e)
                : Refusals.unanswered("Clean-up", store.resource(key), "Nothing was removed; try again.", e);
    }

    private List<Garbage> data(String folder, Duration grace, Predicate<String> outOfReach) {
        List<Garbage> found = new ArrayList<>();
        for (ListObjectsV2Response page : store.client()
                .listObjectsV2Paginator(list -> list.bucket(store.bucket()).prefix(folder))) {
            Instant limit = now(Failures.date(page.sdkHttpResponse()), folder).minus(grace);
            for (S3Object object : page.contents()) {
                if (outOfReach.test(object.key()) && isAsOldAs(limit, object.lastModified())) {
                    found.add(new Garbage(object.key(), object.size(), object.lastModified(), Optional.empty()));
                }
            }
        }
        return found;
    }

    private List<Garbage> uploads(String folder, Duration grace, Predicate<String> outOfReach) {
        List<Garbage> found = new ArrayList<>();
        for (ListMultipartUploadsResponse page : store.client()
                .listMultipartUploadsPaginator(
                        list -> list.bucket(store.bucket()).prefix(folder))) {
            Instant limit = now(Failures.date(page.sdkHttpResponse()), folder).minus(grace);
            for (MultipartUpload upload : page.uploads()) {
                if (upload.key().startsWith(folder)
                        && outOfReach.test(upload.key())
                        && isAsOldAs(limit, upload.initiated())) {
                    found.add(new Garbage(upload.key(), 0, upload.initiated(), Optional.of(upload.uploadId())));
                }
            }
        }
        return found;
    }

    /** A Date header has whole seconds, and what it is compared with may be told finer. */
    private static boolean isAsOldAs(Instant limit, Instant since) {
        return !since.truncatedTo(ChronoUnit.SECONDS).isAfter(limit);
    }

    private Instant now(Optional<Instant> date, String folder) {
        return date.orElseThrow(() -> Refusals.noClock(store.resource(folder)));
    }

    Cleaned remove(List<Garbage> found) {
        List<Garbage> removed = new ArrayList<>();
        Map<Garbage, String> kept = new LinkedHashMap<>();
        for (Garbage garbage : found) {
            try {
                remove(garbage);
                removed.add(garbage);
            } catch (RuntimeException e) {
                kept.put(garbage, Failures.text(e));
            }
        }
        return new Cleaned(removed, kept);
    }

    private void remove(Garbage garbage) {
        if (garbage.uploadId().isPresent()) {
            store.client()
                    .abortMultipartUpload(abort -> abort.bucket(store.bucket())
                            .key(garbage.key())
                            .uploadId(garbage.uploadId().get()));
        } else {
            // Sent again by whichever layer, it removes nothing else: the key is never written a second time.
            store.client().deleteObject(delete -> delete.bucket(store.bucket()).key(garbage.key()));
        }
    }
}
