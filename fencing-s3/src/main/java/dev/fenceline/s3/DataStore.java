package dev.fenceline.s3;

import dev.fenceline.BackendUnavailableException;
import dev.fenceline.FencingToken;
import java.io.IOException;
import java.io.InputStream;
import java.security.MessageDigest;
import java.util.Optional;
import java.util.UUID;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import software.amazon.awssdk.core.ResponseInputStream;
import software.amazon.awssdk.services.s3.model.GetObjectRequest;
import software.amazon.awssdk.services.s3.model.GetObjectResponse;

/**
 * The data that pointers name: each under a key that is written once and never again.
 *
 * @param store the bucket
 * @param settings of the fence
 */
record DataStore(Store store, FenceSettings settings) {

    private static final String FOLDER = ".data/";
    private static final Pattern NAME = Pattern.compile("([0-9]{16})-([0-9a-f]{32})");

    /** By how much the keys of the data are longer than that of the pointer; see {@link #key}. */
    static final int KEY_BYTES_MORE = FOLDER.length() + 16 + 1 + 32;

    /** Where the data of an object lies. */
    static String folder(String key) {
        return key + FOLDER;
    }

    /** The token under which data was written, if this is data. */
    static Optional<Long> tokenOf(String folder, String key) {
        Matcher name = NAME.matcher(key.substring(folder.length()));
        return name.matches() ? Optional.of(Long.parseLong(name.group(1))) : Optional.empty();
    }

    private static String key(String pointer, FencingToken token) {
        return folder(pointer) + String.format("%016d-", token.value()) + Header.hex(UUID.randomUUID());
    }

    /** Sends data, in several parts if it is large. Nobody sees it until a pointer names it. */
    DataObject send(String pointer, FencingToken token, String name, S3Body body) {
        String key = key(pointer, token);
        MessageDigest digest = Digests.sha256();
        try (Interruption interruption = new Interruption();
                InputStream in = body.open()) {
            DataUpload upload = new DataUpload(store, settings, key, body.attributes(), interruption);
            byte[] part = in.readNBytes(settings.partSize());
            digest.update(part);
            if (part.length < settings.partSize()) {
                upload.whole(part);
                return new DataObject(name, key, part.length, Digests.hex(digest));
            }
            long length = upload.inParts(part, in, digest);
            return new DataObject(name, key, length, Digests.hex(digest));
        } catch (IOException e) {
            throw Bodies.unreadable(e);
        }
    }

    /** Reads data whole. What is not as it was written is read again: only if it is the same then, it lies there so. */
    @SuppressWarnings("try") // kept until the end
    S3Content read(DataObject object, FencingToken mark) throws DataGone {
        try (Interruption interruption = new Interruption()) {
            try {
                return once(object, mark);
            } catch (Altered first) {
                return again(object, mark, first);
            }
        } catch (IOException e) {
            throw new BackendUnavailableException(
                    "Read of " + store.resource(object.key()) + " failed: " + e.getMessage() + ". Try again.", e);
        }
    }

    private S3Content once(DataObject object, FencingToken mark) throws DataGone, IOException {
        try (S3Stream stream = open(object)) {
            return new S3Content(stream.readAllBytes(), stream.attributes(), mark);
        }
    }

    private S3Content again(DataObject object, FencingToken mark, Altered first) throws DataGone, IOException {
        try {
            return once(object, mark);
        } catch (Altered second) {
            if (!second.found().equals(first.found())) {
                throw second;
            }
            throw Refusals.altered(store.resource(object.key()), folderOf(object), second);
        }
    }

    private static String folderOf(DataObject object) {
        return object.key().substring(0, object.key().lastIndexOf('/') + 1);
    }

    /** Opens data. */
    S3Stream open(DataObject object) throws DataGone {
        GetObjectRequest.Builder request =
                GetObjectRequest.builder().bucket(store.bucket()).key(object.key());
        store.encryption().addTo(request);
        try {
            ResponseInputStream<GetObjectResponse> answer = store.client().getObject(request.build());
            return new S3Stream(answer, object, Attributes.of(answer.response()));
        } catch (RuntimeException e) {
            if (Failures.isClosed(e)) {
                throw Refusals.closed("Read", store.resource(object.key()), e);
            }
            if (Failures.status(e) == 404) {
                throw new DataGone(object, e);
            }
            if (Failures.isSetting(e)) {
                throw Refusals.setting("Read", store.resource(object.key()), e);
            }
            throw unanswered(object, e);
        }
    }

    private BackendUnavailableException unanswered(DataObject object, RuntimeException failure) {
        return Refusals.unanswered("Read", store.resource(object.key()), "Nothing was changed; try again.", failure);
    }
}
