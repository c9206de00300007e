package dev.fenceline.s3;

import dev.fenceline.FencingToken;
import dev.fenceline.Hold;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * A fence for small objects, up to 16 KiB, that hold their body themselves: as gzip, which curl, browsers, Python and the JDK read
 * without knowing of the mark in its header. See {@link ObjectFence}.
 *
 * <p>A read takes one request, a write one, a claim two.
 */
public final class EnvelopeFence extends ObjectFence<EnvelopeClaim> {

    private final Claims<byte[]> claims;

    EnvelopeFence(Store store, FenceSettings settings) {
        super(settings);
        this.claims = new Claims<>(new Documents<>(store, Formats.ENVELOPE), settings);
    }

    @Override
    String requireKey(String key) {
        return checked(key);
    }

    @Override
    EnvelopeClaim open(String key, FencingToken token, @Nullable Hold lease) {
        return new EnvelopeClaim(claims.claim(key, token, lease));
    }

    @Override
    EnvelopeClaim reopen(String key, FencingToken token) {
        return new EnvelopeClaim(claims.resume(key, token));
    }

    @Override
    public Optional<S3Content> read(String key) {
        return Reading.of(claims.documents(), settings(), "Read")
                .look(checked(key))
                .flatMap(version -> EnvelopeClaim.content(version.document()));
    }
}
