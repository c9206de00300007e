package dev.fenceline.testkit;

import java.io.File;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** The programs of Ceph that make up an S3 store. None comes with a library, so they have to be installed. */
enum CephProgram {
    MONMAPTOOL("monmaptool"),
    MON("ceph-mon"),
    OSD("ceph-osd"),
    CEPH("ceph"),
    RADOSGW_ADMIN("radosgw-admin"),
    RADOSGW("radosgw");

    private final String program;

    CephProgram(String program) {
        this.program = program;
    }

    /** Fails before anything needs clearing up. */
    static void requireAll() {
        requireAll(Optional.ofNullable(System.getenv("PATH")).orElse(""));
    }

    static void requireAll(String path) {
        String missing = Arrays.stream(values())
                .filter(one -> folders(path).noneMatch(folder -> Files.isExecutable(folder.resolve(one.program))))
                .map(one -> one.program)
                .collect(Collectors.joining(", "));
        if (!missing.isEmpty()) {
            throw new IllegalStateException(
                    "The S3 store of Ceph needs programs that are not installed here: " + missing
                            + ". Install them (Debian and Ubuntu: apt-get install --no-install-recommends ceph-mon ceph-osd radosgw), or"
                            + " leave -D" + SharedServers.S3_STORE + " out for the store that comes with a library.");
        }
    }

    private static Stream<Path> folders(String path) {
        return Arrays.stream(path.split(File.pathSeparator))
                .filter(folder -> !folder.isEmpty())
                .map(Path::of);
    }

    List<String> command(Path configuration, String... arguments) {
        return Stream.concat(Stream.of(program, "--conf", configuration.toString()), Arrays.stream(arguments))
                .toList();
    }

    /** What makes a daemon stay a child of ours. */
    static String[] inForeground(String... arguments) {
        return Stream.concat(Arrays.stream(arguments), Stream.of("-f")).toArray(String[]::new);
    }

    @Override
    public String toString() {
        return program;
    }
}
