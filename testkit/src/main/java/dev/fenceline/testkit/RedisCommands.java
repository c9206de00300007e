package dev.fenceline.testkit;

import java.io.IOException;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.util.Optional;

/** One command to any Redis, wherever it runs. */
final class RedisCommands {

    private RedisCommands() {}

    static String uri(String host, int port, Optional<String> password) {
        String credentials = password.map(p -> ":" + URLEncoder.encode(p, StandardCharsets.UTF_8) + "@")
                .orElse("");
        return "redis://" + credentials + host + ":" + port;
    }

    static String run(String host, int port, Optional<String> password, String... words) {
        String what = String.join(" ", words) + " to Redis on " + host + ":" + port;
        try (RespSocket socket = new RespSocket(host, port)) {
            if (password.isPresent()) {
                socket.command("AUTH", password.get());
            }
            return socket.command(words);
        } catch (IllegalStateException e) {
            throw new IllegalStateException(what + " was answered: " + e.getMessage(), e);
        } catch (IOException e) {
            throw new IllegalStateException(what + " got no answer: " + e.getMessage(), e);
        }
    }
}
