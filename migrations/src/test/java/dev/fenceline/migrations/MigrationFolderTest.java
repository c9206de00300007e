package dev.fenceline.migrations;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assumptions.assumeThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** A migration is written with its undo or not at all, and never in the place of another. */
class MigrationFolderTest {

    @TempDir
    Path folder;

    private MigrationFiles write(String version, String description) {
        return new MigrationFolder(folder, folder).write(version, description, "do", "undo");
    }

    private List<String> files() throws IOException {
        try (Stream<Path> walk = Files.walk(folder)) {
            return walk.filter(Files::isRegularFile)
                    .map(file -> folder.relativize(file).toString())
                    .sorted()
                    .toList();
        }
    }

    @Test
    void bothFilesAreWritten() throws IOException {
        MigrationFiles files = write("48", "fence orders");

        assertThat(files()).containsExactly("U48__fence_orders.sql", "V48__fence_orders.sql");
        assertThat(files.migration()).hasContent("do");
        assertThat(files.undo()).hasContent("undo");
        assertThat(Files.getPosixFilePermissions(files.migration()))
                .as("as any file of this user")
                .isEqualTo(Files.getPosixFilePermissions(Files.createFile(folder.resolve("other"))));
    }

    @Test
    void anUndoApartIsWrittenThereAndItsVersionIsTakenThereToo() throws IOException {
        Path migrations = Files.createDirectory(folder.resolve("migration"));
        Path undos = Files.createDirectory(folder.resolve("undo"));
        MigrationFolder apart = new MigrationFolder(migrations, undos);

        assertThat(apart.write("48", "fence", "do", "undo"))
                .isEqualTo(new MigrationFiles(migrations.resolve("V48__fence.sql"), undos.resolve("U48__fence.sql")));
        assertThat(files()).containsExactly("migration/V48__fence.sql", "undo/U48__fence.sql");

        Files.delete(migrations.resolve("V48__fence.sql"));
        assertThatThrownBy(() -> apart.write("48.0", "other", "do", "undo"))
                .isInstanceOf(IllegalStateException.class)
                .hasMessage("Migration 48.0 was not written: the folder has that version already, in "
                        + undos.resolve("U48__fence.sql") + ". Choose a version that is free.");
        Files.createDirectories(migrations.resolve("V49__fence.sql/full"));
        assertThatThrownBy(() -> apart.write("49", "fence", "do", "undo"))
                .hasMessageContaining("meanwhile somebody else wrote " + migrations.resolve("V49__fence.sql"));
        assertThat(files()).containsExactly("undo/U48__fence.sql");
    }

    @ParameterizedTest
    @CsvSource({
        "V48__other.sql, 48",
        "V048__other.sql, 48",
        "V48.0__other.sql, 48",
        "V1_2__x.sql, 1.2",
        "V1.2.0__x.sql, 1_2",
        "U48__other.sql, 48.0",
        "deeper/V48__other.sql, 48",
        "V48__other.java, 48",
        "V0__x.sql, 0.0"
    })
    void aVersionThatIsThereIsRefusedHoweverItIsSpelled(String there, String version) throws IOException {
        Files.createDirectories(folder.resolve(there).getParent());
        Files.writeString(folder.resolve(there), "theirs");

        assertThatThrownBy(() -> write(version, "fence"))
                .isInstanceOf(IllegalStateException.class)
                .hasMessage("Migration " + version + " was not written: the folder has that version already, in "
                        + there + ". Choose a version that is free.");
        assertThat(files()).containsExactly(there);
        assertThat(folder.resolve(there)).hasContent("theirs");
    }

    @Test
    void theMigrationThatIsThereIsNamedBeforeItsUndo() throws IOException {
        write("48", "fence");

        assertThatThrownBy(() -> write("48", "fence"))
                .isInstanceOf(IllegalStateException.class)
                .hasMessage("Migration 48 was not written: the folder has that version already, in V48__fence.sql and"
                        + " U48__fence.sql. Choose a version that is free.");
        assertThatThrownBy(() -> write("48", "other"))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining(" already, in V48__fence.sql and U48__fence.sql. ");
    }

    @ParameterizedTest
    @CsvSource({"V4__x.sql", "V480__x.sql", "V48.1__x.sql", "R__48.sql", "48.sql", "V48x__y.sql"})
    void otherFilesStandInNobodysWay(String there) throws IOException {
        Files.writeString(folder.resolve(there), "theirs");

        write("48", "fence");

        assertThat(files()).hasSize(3);
    }

    @Test
    void theUndoOfAWriterThatWasKilledIsFinishedByTheNext() throws IOException {
        Files.writeString(folder.resolve("U48__fence.sql"), "undo");

        write("48", "fence");

        assertThat(files()).containsExactly("U48__fence.sql", "V48__fence.sql");
    }

    @Test
    void whatCannotBePartOfANameIsRefused() throws IOException {
        for (String version : List.of("", "48a", "../48", "4 8", ".4", "4.", "-1", "4__8")) {
            assertThatThrownBy(() -> write(version, "fence"))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessage(
                            "Version '" + version
                                    + "' cannot be part of a file's name: it is made of numbers with dots between them, such as 48 or 1.2.");
        }
        for (String description : List.of("", "a/b", "../x", "ä", "a\nb", "${x}")) {
            assertThatThrownBy(() -> write("48", description))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageStartingWith("Description '")
                    .hasMessageContaining("it is made of letters, digits, blanks, underscores, dots and hyphens.");
        }
        assertThat(files()).isEmpty();
    }

    @Test
    void aFolderThatIsMissingOrNoFolderIsNamed() throws IOException {
        Path missing = folder.resolve("nowhere");
        assertThatThrownBy(() -> new MigrationFolder(missing, folder).write("1", "x", "do", "undo"))
                .isInstanceOf(IllegalStateException.class)
                .hasMessage(
                        "Migration 1 was not written: there is no folder " + missing + ". Create it, or name another.");
        Path file = Files.createFile(folder.resolve("file"));
        assertThatThrownBy(() -> new MigrationFolder(folder, file).write("1", "x", "do", "undo"))
                .hasMessageContaining("there is no folder " + file);
    }

    @Test
    void aFolderThatCannotBeWrittenIsNamedAndNothingIsLeft() throws IOException {
        Files.setPosixFilePermissions(folder, PosixFilePermissions.fromString("r-xr-xr-x"));
        try {
            assumeThat(Files.isWritable(folder)).as("root writes everywhere").isFalse();
            assertThatThrownBy(() -> write("48", "fence"))
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessageStartingWith("Migration 48 was not written: folder " + folder + " cannot be written (")
                    .hasMessageEndingWith("Nothing was left there.");
            assertThat(files()).isEmpty();
        } finally {
            Files.setPosixFilePermissions(folder, PosixFilePermissions.fromString("rwxr-xr-x"));
        }
    }

    @Test
    void whateverElseTheFolderRefusesNothingIsLeft() throws IOException {
        assertThatThrownBy(() -> write("48", "x".repeat(300)))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageStartingWith("Migration 48 was not written: folder " + folder + " cannot be written (")
                .hasMessageContaining("name too long")
                .hasMessageEndingWith("Nothing was left there.");
        assertThat(files()).isEmpty();
    }

    @Test
    void ofBothFilesNoneStaysWhenTheSecondCannotBePlaced() throws IOException {
        // A folder of the migration's name: no migration to Flyway, and nothing to move a file over.
        Files.createDirectories(folder.resolve("V48__fence.sql/full"));

        assertThatThrownBy(() -> write("48", "fence"))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("meanwhile somebody else wrote " + folder.resolve("V48__fence.sql"));
        assertThat(files()).isEmpty();
    }
}
