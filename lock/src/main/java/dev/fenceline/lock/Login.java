package dev.fenceline.lock;

import io.lettuce.core.RedisCredentials;
import io.lettuce.core.RedisCredentialsProvider;
import io.lettuce.core.RedisURI;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;

/**
 * The login of one connection, known before it is opened.
 *
 * <p>Lettuce asks the provider of a URI while it connects, also where the password stands in the URI, and goes on in the common pool,
 * which the program may be using up. A refusal that arrives meanwhile ends the connection on one thread and is told on another, and
 * whichever is first becomes the reason: one in a hundred wrong passwords was reported as a connection that was closed. A provider
 * that is known to answer at once is asked on the connection's own thread, where a refusal comes before the end that it causes.
 *
 * <p>What is left is the thread that connects, which begins to listen for the outcome after it has begun: a refusal in between is
 * as much lost to it. So the connection's thread does not get the login before.
 */
final class Login implements RedisCredentialsProvider.ImmediateRedisCredentialsProvider {

    private final RedisCredentials credentials;
    private final CountDownLatch listening = new CountDownLatch(1);

    private Login(RedisCredentials credentials) {
        this.credentials = credentials;
    }

    /** Asks the provider of a URI, for this one connection: what it says may change. */
    static CompletableFuture<Login> of(RedisURI uri, Duration limit) {
        return uri.getCredentialsProvider()
                .resolveCredentials()
                .toFuture()
                .orTimeout(limit.toMillis(), TimeUnit.MILLISECONDS)
                .handle((credentials, thrown) -> {
                    if (credentials == null) {
                        throw none(limit, thrown);
                    }
                    return new Login(credentials);
                });
    }

    private static IllegalStateException none(Duration limit, @Nullable Throwable thrown) {
        String why = thrown == null
                ? "gave none"
                : thrown instanceof TimeoutException
                        ? "gave none within " + limit.toMillis() + " ms"
                        : "failed (" + thrown + ")";
        IllegalStateException none = new IllegalStateException("the credentials provider of the URI " + why);
        if (thrown != null) {
            none.addSuppressed(thrown); // the deepest cause is what is told, and this is to be it
        }
        return none;
    }

    /** To be called once somebody listens for the outcome, or nobody ever will. */
    void release() {
        listening.countDown();
    }

    /** Bounded, since what is waited for is that a method returns which waits for nothing. */
    @Override
    public RedisCredentials resolveCredentialsNow() {
        try {
            var unused = listening.await(1, TimeUnit.SECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        return credentials;
    }

    /** For the text of a URI, which shows as many stars as a password is long. */
    @Override
    public Mono<RedisCredentials> resolveCredentials() {
        return Mono.just(credentials);
    }
}
