package dev.fenceline.s3;

import java.util.Optional;
import software.amazon.awssdk.services.s3.model.PutObjectRequest;

/**
 * On what a write depends.
 *
 * @param etag what must be there; empty when nothing may be there
 */
record Condition(Optional<String> etag) {

    static Condition absent() {
        return new Condition(Optional.empty());
    }

    static Condition unchanged(String etag) {
        return new Condition(Optional.of(etag));
    }

    void addTo(PutObjectRequest.Builder request, EtagForm form) {
        etag.ifPresentOrElse(seen -> request.ifMatch(form.of(seen)), () -> request.ifNoneMatch("*"));
    }
}
