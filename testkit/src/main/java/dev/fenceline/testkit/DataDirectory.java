package dev.fenceline.testkit;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.BasicFileAttributes;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Copies of a PostgreSQL data directory; one that initdb has just made is kept, since initdb takes longer than a start. */
final class DataDirectory {

    /** They belong to the running server. */
    private static final Set<String> LEFT_OUT = Set.of("postmaster.pid", "postmaster.opts", "epg-lock");

    private static @Nullable Path template;

    private DataDirectory() {}

    /** Fills a directory as initdb would, if initdb has run in this JVM before. */
    static synchronized void layFromTemplate(Path target) {
        if (template != null) {
            try {
                copy(template, target, Set.of());
            } catch (IOException e) {
                throw new UncheckedIOException("Cannot copy " + template + " to " + target + ".", e);
            }
        }
    }

    /** Keeps what initdb has made, before a server has written to it. */
    static synchronized void keepAsTemplate(Path made) {
        if (template == null) {
            Path kept = Workspace.newDirectory("template");
            Reaper.remove(kept);
            try {
                copy(made, kept.resolve("data"), Set.of());
            } catch (IOException e) {
                throw new UncheckedIOException("Cannot copy " + made + " to " + kept + ".", e);
            }
            template = kept.resolve("data");
        }
    }

    static void copy(Path source, Path target, Set<String> emptied) throws IOException {
        Files.walkFileTree(source, new SimpleFileVisitor<>() {
            @Override
            public FileVisitResult preVisitDirectory(Path directory, BasicFileAttributes attributes)
                    throws IOException {
                Files.createDirectory(
                        target.resolve(source.relativize(directory)),
                        PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------")));
                return emptied.contains(directory.getFileName().toString())
                        ? FileVisitResult.SKIP_SUBTREE
                        : FileVisitResult.CONTINUE;
            }

            @Override
            public FileVisitResult visitFile(Path file, BasicFileAttributes attributes) throws IOException {
                if (!LEFT_OUT.contains(file.getFileName().toString())) {
                    copyIfThere(file, target.resolve(source.relativize(file)));
                }
                return FileVisitResult.CONTINUE;
            }

            @Override
            public FileVisitResult visitFileFailed(Path file, IOException e) throws IOException {
                if (e instanceof NoSuchFileException) {
                    return FileVisitResult.CONTINUE;
                }
                throw e;
            }
        });
    }

    /** The server removes files while we copy; the log tells the standby of it. */
    private static void copyIfThere(Path file, Path target) throws IOException {
        try {
            Files.copy(file, target, StandardCopyOption.COPY_ATTRIBUTES);
        } catch (NoSuchFileException e) {
            Files.deleteIfExists(target);
        }
    }
}
