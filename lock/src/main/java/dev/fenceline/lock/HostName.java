package dev.fenceline.lock;

import java.io.IOException;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;

/**
 * The name of this machine, for the messages of those who wait. The resolver is asked last and not for long: it can hang on
 * DNS, and only a message needs the name.
 */
final class HostName {

    private static final Path KERNEL = Path.of("/proc/sys/kernel/hostname");
    private static final long RESOLVER_MILLIS = 1_000;

    private HostName() {}

    static String ours() {
        return variable("HOSTNAME")
                .or(() -> variable("COMPUTERNAME"))
                .or(() -> line(KERNEL))
                .orElseGet(() -> within(RESOLVER_MILLIS, HostName::resolved));
    }

    /** The answer, or a placeholder that a person understands when none comes in time. */
    static String within(long millis, Supplier<String> resolver) {
        CompletableFuture<String> answer = new CompletableFuture<>();
        Thread thread = new Thread(() -> answer.complete(resolver.get()), "fenceline-host-name");
        thread.setDaemon(true);
        thread.start();
        return answer.completeOnTimeout("unknown host", millis, TimeUnit.MILLISECONDS)
                .join();
    }

    static Optional<String> line(Path file) {
        try {
            return Optional.of(Files.readString(file).strip()).filter(name -> !name.isEmpty());
        } catch (IOException e) {
            // Not Linux, or a container that hides it.
            return Optional.empty();
        }
    }

    private static Optional<String> variable(String name) {
        return Optional.ofNullable(System.getenv(name)).filter(value -> !value.isBlank());
    }

    private static String resolved() {
        try {
            return InetAddress.getLocalHost().getHostName();
        } catch (UnknownHostException e) {
            return "unknown host";
        }
    }
}
