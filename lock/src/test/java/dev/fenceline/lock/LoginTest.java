package dev.fenceline.lock;

import static org.assertj.core.api.Assertions.assertThat;

import dev.fenceline.BackendMisconfiguredException;
import dev.fenceline.BackendUnavailableException;
import dev.fenceline.testkit.RedisServer;
import dev.fenceline.testkit.RedisSpec;
import dev.fenceline.testkit.Servers;
import io.lettuce.core.RedisCredentials;
import io.lettuce.core.RedisCredentialsProvider;
import io.lettuce.core.RedisURI;
import java.time.Duration;
import java.util.HashSet;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Mono;

/** Logins that are refused, and that are not to be had. */
@Tag("server")
class LoginTest {

    /** One in fifty was told as something else, by Lettuce as it is. */
    private static final int REFUSALS = 400;

    private static final Duration LIMIT = Duration.ofSeconds(5);

    private static Servers servers;
    private static RedisServer secured;

    private final Network network = new Network(null, null);

    @BeforeAll
    static void startServer() {
        servers = Servers.embedded();
        secured = servers.redis(RedisSpec.master().password("right-horse"));
    }

    @AfterAll
    static void stopServer() {
        servers.close();
    }

    @AfterEach
    void disconnect() {
        network.close();
        network.shutDown(CompletableFuture.completedFuture(null), LIMIT);
    }

    @Test
    void aRefusedLoginIsToldAsSuchWhicheverThreadIsFirst() {
        RedisURI wrong = RedisURI.create("redis://:wrong-battery@" + secured.host() + ":" + secured.port());
        Set<String> told = new HashSet<>();
        for (int i = 0; i < REFUSALS; i++) {
            told.add(failure(wrong, LIMIT));
        }
        assertThat(told)
                .singleElement()
                .asString()
                .startsWith(BackendMisconfiguredException.class.getSimpleName())
                .contains("Redis refused the login: WRONGPASS")
                .contains("Check user and password in the URI");
    }

    @Test
    void aProviderWithoutCredentialsIsToldAndNothingIsSent() {
        String unavailable = BackendUnavailableException.class.getSimpleName();
        String none =
                unavailable + ": No connection to Redis: IllegalStateException: the credentials provider of the URI ";
        assertThat(failure(with(Mono::empty), LIMIT)).startsWith(none + "gave none. Nothing was sent");
        assertThat(failure(with(Mono::never), Duration.ofMillis(50)))
                .startsWith(none + "gave none within 50 ms. Nothing was sent");
        assertThat(failure(with(() -> Mono.error(new ArithmeticException("sealed"))), LIMIT))
                .startsWith(none + "failed (java.lang.ArithmeticException: sealed). Nothing was sent");
        assertThat(failure(
                        with(() -> {
                            throw new ArithmeticException("broken");
                        }),
                        LIMIT))
                .startsWith(unavailable + ": No connection to Redis: ArithmeticException: broken. Nothing was sent");
    }

    @Test
    void aProviderMayAnswerLater() {
        CompletableFuture<RedisCredentials> answer = new CompletableFuture<>();
        var connecting = network.connect(with(() -> Mono.fromFuture(answer)), LIMIT);
        assertThat(connecting).isNotDone();
        answer.complete(RedisCredentials.just(null, "right-horse"));
        assertThat(connecting.join().sync().ping()).isEqualTo("PONG");
    }

    private static RedisURI with(RedisCredentialsProvider provider) {
        return RedisURI.builder()
                .withHost(secured.host())
                .withPort(secured.port())
                .withAuthentication(provider)
                .build();
    }

    private String failure(RedisURI uri, Duration limit) {
        return network.connect(uri, limit)
                .handle((connection, thrown) -> {
                    RuntimeException told = ConnectFailure.of("Redis", Link.unwrapped(thrown));
                    return told.getClass().getSimpleName() + ": " + told.getMessage();
                })
                .join();
    }
}
