package dev.fenceline.testkit;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.URL;
import java.net.URLConnection;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import redis.embedded.core.ExecutableProvider;
import redis.embedded.model.OsArchitecture;

/**
 * The redis-server program: an installed one if the system property says so, else the one that embedded-redis carries,
 * unpacked once per user of this machine.
 */
record RedisExecutable(Path path, int majorVersion) {

    static final String PROPERTY = "fenceline.redis.executable";

    private static final Pattern VERSION = Pattern.compile("v=([0-9]+)\\.");

    private static @Nullable RedisExecutable found;

    static synchronized RedisExecutable find() {
        RedisExecutable executable = found;
        if (executable == null) {
            Path path = Optional.ofNullable(System.getProperty(PROPERTY))
                    .map(Path::of)
                    .orElseGet(() -> unpack(Workspace.cache().resolve("redis")));
            executable = new RedisExecutable(path, majorVersion(path));
            found = executable;
        }
        return executable;
    }

    /** Unpacks beside the final name and renames, so that two JVMs at once both end with a whole file. */
    static Path unpack(Path directory) {
        URL carried = carried();
        try {
            URLConnection connection = carried.openConnection();
            connection.setUseCaches(false);
            try (InputStream in = connection.getInputStream()) {
                String name = Path.of(carried.getPath()).getFileName() + "-" + connection.getContentLengthLong();
                Path executable = directory.resolve(name);
                if (Files.isExecutable(executable)) {
                    return executable;
                }
                Files.createDirectories(directory);
                Path fresh = Files.createTempFile(directory, "unpacking-", ".tmp");
                Files.copy(in, fresh, StandardCopyOption.REPLACE_EXISTING);
                if (!fresh.toFile().setExecutable(true, true)) {
                    throw new IOException("Cannot make " + fresh + " executable.");
                }
                return Files.move(fresh, executable, StandardCopyOption.ATOMIC_MOVE);
            }
        } catch (IOException e) {
            throw new UncheckedIOException("Cannot unpack redis-server to " + directory + ".", e);
        }
    }

    private static URL carried() {
        OsArchitecture here = OsArchitecture.detectOSandArchitecture();
        String resource = ExecutableProvider.newProvidedVersionsMap().get(here);
        URL url = resource == null ? null : ExecutableProvider.class.getResource(resource);
        if (url == null || ProcessTable.windows()) {
            throw new IllegalStateException("No embedded Redis of version 6.2 or later for "
                    + System.getProperty("os.name") + " " + System.getProperty("os.arch")
                    + ". Install a Redis and name it with -D" + PROPERTY + "=/path/to/redis-server.");
        }
        return url;
    }

    private static int majorVersion(Path path) {
        String output;
        try {
            Process process = new ProcessBuilder(path.toString(), "--version")
                    .redirectErrorStream(true)
                    .start();
            output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8).strip();
        } catch (IOException e) {
            throw new UncheckedIOException("Cannot run " + path + "; -D" + PROPERTY + " chooses another.", e);
        }
        Matcher version = VERSION.matcher(output);
        if (!version.find()) {
            throw new IllegalStateException(cannotRun(path, output));
        }
        return Integer.parseInt(version.group(1));
    }

    static String cannotRun(Path path, String output) {
        String remedy = output.contains("libssl") || output.contains("libcrypto")
                ? "Install OpenSSL 3 (Debian and Ubuntu: apt-get install libssl3; Fedora: dnf install openssl-libs;"
                        + " macOS: brew install openssl@3), or name"
                : "Name";
        return "redis-server at " + path + " does not run here: " + output + ". " + remedy
                + " an installed Redis with -D" + PROPERTY + "=/path/to/redis-server.";
    }
}
