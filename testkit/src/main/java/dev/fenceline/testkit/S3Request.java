package dev.fenceline.testkit;

import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;

/**
 * One request that came through a {@link S3FaultProxy}.
 *
 * @param method such as {@code PUT}
 * @param bucket the first element of the path; empty for a request to the service
 * @param key the rest of the path, decoded; empty for a request to the bucket
 * @param query as it was sent, without its question mark; empty if there was none
 * @param headers by their names in lower case
 */
public record S3Request(String method, String bucket, String key, String query, Map<String, String> headers) {

    /** Keeps a copy of the headers. */
    public S3Request {
        headers = Map.copyOf(headers);
    }

    static S3Request of(HttpMessage message) {
        String[] words = message.startLine().split(" ", 3);
        String[] target = words[1].split("\\?", 2);
        String[] path = target[0].split("/", 3);
        return new S3Request(
                words[0],
                decoded(path.length > 1 ? path[1] : ""),
                decoded(path.length > 2 ? path[2] : ""),
                target.length > 1 ? target[1] : "",
                message.headers());
    }

    /** A plus sign in a path is itself. */
    private static String decoded(String path) {
        return URLDecoder.decode(path.replace("+", "%2B"), StandardCharsets.UTF_8);
    }

    /**
     * Returns a header.
     *
     * @param name in any case
     * @return its value, if it was sent
     */
    public Optional<String> header(String name) {
        return Optional.ofNullable(headers.get(name.toLowerCase(Locale.ROOT)));
    }

    /**
     * Tells a person which request it was.
     *
     * @return method, path and query, without headers, which may hold credentials
     */
    @Override
    public String toString() {
        return method + " /" + bucket + "/" + key + (query.isEmpty() ? "" : "?" + query);
    }
}
