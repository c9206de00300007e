package dev.fenceline.lock;

import io.lettuce.core.RedisURI;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/** Copies of URIs, which can be changed behind our back, and their texts without credentials. */
final class Uris {

    private static final Pattern LOGIN_BEHIND_THE_HOSTS = Pattern.compile("[^:]+://[^/?#@]*[/?#].*@.*", Pattern.DOTALL);

    private Uris() {}

    /**
     * The text itself. A character that ends the hosts of a URI makes hosts of what precedes it: unless it is encoded, a
     * part of a password.
     */
    static String withoutLoginBehindTheHosts(String uri) {
        if (LOGIN_BEHIND_THE_HOSTS.matcher(uri).matches()) {
            throw new IllegalArgumentException("A login behind the hosts.");
        }
        return uri;
    }

    /** A copy with all that it says, of Sentinels too. */
    static RedisURI copy(RedisURI uri) {
        RedisURI.Builder builder = RedisURI.builder(uri);
        for (RedisURI sentinel : uri.getSentinels()) {
            builder.withSentinel(RedisURI.builder(sentinel).build());
        }
        if (uri.getSentinelMasterId() != null) {
            builder.withSentinelMasterId(uri.getSentinelMasterId());
        }
        return builder.build();
    }

    /** The same login, database and TLS at another address. */
    static RedisURI at(RedisURI uri, String host, int port) {
        return RedisURI.builder(uri).withHost(host).withPort(port).build();
    }

    static String address(RedisURI uri) {
        return uri.getHost() + ":" + uri.getPort();
    }

    static String addresses(List<RedisURI> uris) {
        return uris.stream().map(Uris::address).collect(Collectors.joining(", "));
    }
}
