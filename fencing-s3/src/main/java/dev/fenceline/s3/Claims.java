package dev.fenceline.s3;

import dev.fenceline.FencingToken;
import dev.fenceline.Hold;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Where sessions begin.
 *
 * @param documents of one format in one bucket
 * @param settings of the fence
 * @param <P> what the documents hold
 */
record Claims<P>(Documents<P> documents, FenceSettings settings) {

    Session<P> claim(String key, FencingToken token, @Nullable Hold lease) {
        Version<P> claimed = new ClaimStep<>(documents, settings, key, token, lease).run();
        return new Session<>(documents, settings, key, token, lease, claimed);
    }

    Session<P> resume(String key, FencingToken token) {
        Version<P> seen = Reading.of(documents, settings, "Resumption")
                .look(key)
                .orElseThrow(() -> Refusals.notClaimed(documents.store().resource(key), token, Optional.empty()));
        Session<P> session = new Session<>(documents, settings, key, token, null, seen);
        session.requireOurs("Resumption", seen, null);
        return session;
    }
}
