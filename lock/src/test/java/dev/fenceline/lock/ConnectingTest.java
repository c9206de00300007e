package dev.fenceline.lock;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.fenceline.BackendUnavailableException;
import io.lettuce.core.RedisURI;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;
import org.junit.jupiter.api.Test;

/** What is told where the limit of a first connect is reached. */
class ConnectingTest {

    @Test
    void whatWasTriedLastIsNamedWhereTheLimitEndsIt() {
        assertThatThrownBy(() -> Connecting.await(
                        new Silent(Optional.of("connecting to Redis at b:2")),
                        new CompletableFuture<>(),
                        Duration.ofMillis(10)))
                .isInstanceOf(BackendUnavailableException.class)
                .hasMessage(
                        "No connection to Redis master 'm' of Sentinel at a:1: the server did not answer within 10 ms"
                                + " (last: connecting to Redis at b:2). Nothing was sent; check host, port and whether the server"
                                + " runs.");
    }

    @Test
    void whereNothingWasTriedNothingIsNamed() {
        assertThatThrownBy(() -> Connecting.await(
                        new Silent(Optional.empty()), new CompletableFuture<>(), Duration.ofMillis(10)))
                .isInstanceOf(BackendUnavailableException.class)
                .hasMessageContaining("within 10 ms. Nothing was sent");
    }

    private record Silent(Optional<String> lastTried) implements Route {

        @Override
        public String server() {
            return "Redis master 'm' of Sentinel at a:1";
        }

        @Override
        public CompletableFuture<Void> connect(Subscription subscription) {
            return new CompletableFuture<>();
        }

        @Override
        public <T> CompletableFuture<T> run(LockKey lock, Function<Link, CompletableFuture<T>> request) {
            return new CompletableFuture<>();
        }

        @Override
        public List<ServerConnection> servers() {
            return List.of();
        }

        @Override
        public RedisURI listeningPlace() {
            return RedisURI.create("redis://a:1");
        }

        @Override
        public Listeners listeners() {
            return Listeners.COUNTED;
        }

        @Override
        public CompletableFuture<Void> close() {
            return CompletableFuture.completedFuture(null);
        }
    }
}
