package dev.fenceline.cli;

import dev.fenceline.LockOptions;
import io.lettuce.core.RedisCredentials;
import io.lettuce.core.RedisCredentialsProvider;
import io.lettuce.core.RedisURI;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** Login and key prefix, alike for one lock server and for several. */
abstract class LockServerOptions extends ServerOptions {

    @Option(names = "--redis-user", paramLabel = "USER", order = 84, description = "The user of Redis's access list.")
    private @Nullable String user;

    @Option(
            names = "--redis-password-file",
            paramLabel = "FILE",
            order = 85,
            description = "Take the password of Redis from the first line of this file.")
    private @Nullable String passwordFile;

    @Option(
            names = "--key-prefix",
            paramLabel = "PREFIX",
            order = 86,
            defaultValue = "fenceline",
            description = "The keyPrefix of the application's LockOptions (${DEFAULT-VALUE}).")
    private String keyPrefix = "fenceline";

    LockServerOptions(Terminal terminal, String option, String variable) {
        super(
                terminal,
                option,
                variable,
                "Set FENCELINE_REDIS_PASSWORD, or use --redis-password-file, or leave it out and be asked; a user goes to --redis-user.");
    }

    @Option(
            names = {"--redis-password", "--redis-pw"},
            hidden = true,
            arity = "0..1",
            fallbackValue = "")
    void password(String ignored) {
        refusePassword(ignored);
    }

    final Optional<String> password() {
        return password("--redis-password-file", passwordFile, "FENCELINE_REDIS_PASSWORD");
    }

    /** Whether somebody is there to be asked for a password that nobody gave. */
    final boolean canAsk(String address, Optional<String> given) {
        return given.isEmpty() && !address.contains("@") && terminal.answers();
    }

    final Optional<String> askForPassword() {
        return Optional.of(terminal.askSecretly("Password of Redis: "));
    }

    final String keyPrefix() {
        return keyPrefix;
    }

    final LockOptions lockOptions() {
        try {
            return LockOptions.builder()
                    .keyPrefix(keyPrefix)
                    .application("fenceline")
                    .build();
        } catch (IllegalArgumentException e) {
            throw Failure.usage("--key-prefix: " + e.getMessage());
        }
    }

    final void login(RedisURI server, Optional<String> password) {
        // Those of the address itself stay, unless others are given; RedisURI has no getter that shows them.
        if (user != null || password.isPresent()) {
            server.setCredentialsProvider(RedisCredentialsProvider.from(() -> RedisCredentials.just(
                    user, password.map(String::toCharArray).orElse(null))));
        }
    }
}
