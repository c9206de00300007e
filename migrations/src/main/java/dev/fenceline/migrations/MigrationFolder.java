package dev.fenceline.migrations;

import java.io.IOException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * A folder of versioned migrations as Flyway reads it: also in folders below, and 48, 048 and 48.0 are one version.
 *
 * @param undos where the undos are, which may be the same: Flyway's free edition knows none, and refuses what it does not know where it is told
 *     to validate names
 */
record MigrationFolder(Path folder, Path undos) {

    private static final Pattern VERSION = Pattern.compile("[0-9]+(?:[._][0-9]+)*");
    private static final Pattern DESCRIPTION = Pattern.compile("[A-Za-z0-9][A-Za-z0-9 _.-]*");
    private static final Pattern FILE = Pattern.compile("([VU])([0-9]+(?:[._][0-9]+)*)(?:__.*)?\\.[A-Za-z]+");

    MigrationFiles write(String version, String description, String sql, String undo) {
        require(VERSION, version, "Version", "numbers with dots between them, such as 48 or 1.2");
        require(DESCRIPTION, description, "Description", "letters, digits, blanks, underscores, dots and hyphens");
        String name = version + "__" + description.strip().replaceAll("\\s+", "_") + ".sql";
        MigrationFiles files = new MigrationFiles(folder.resolve("V" + name), undos.resolve("U" + name));
        String refused = "Migration " + version + " was not written: ";
        for (Path needed : List.of(folder, undos)) {
            if (!Files.isDirectory(needed)) {
                throw new IllegalStateException(
                        refused + "there is no folder " + needed + ". Create it, or name another.");
            }
        }
        try {
            List<Path> taken = taken(numbers(version), files.undo(), undo);
            if (!taken.isEmpty()) {
                throw new IllegalStateException(refused + "the folder has that version already, in "
                        + taken.stream()
                                .map(file -> (file.startsWith(folder) ? folder.relativize(file) : file).toString())
                                .collect(Collectors.joining(" and "))
                        + ". Choose a version that is free.");
            }
            place(files, sql, undo);
            return files;
        } catch (FileAlreadyExistsException e) {
            throw new IllegalStateException(
                    refused + "meanwhile somebody else wrote " + e.getFile() + ". Choose a version that is free.", e);
        } catch (IOException e) {
            throw new IllegalStateException(
                    refused + "folder " + folder + (undos.equals(folder) ? "" : " or " + undos) + " cannot be written ("
                            + e + "). Nothing was left there.",
                    e);
        }
    }

    private static void require(Pattern pattern, String text, String what, String form) {
        if (!pattern.matcher(text).matches()) {
            throw new IllegalArgumentException(what + " '" + Identifiers.oneLine(text)
                    + "' cannot be part of a file's name: it is made of " + form + ".");
        }
    }

    /**
     * The files that have the version already, migrations before undos. An undo of our own text alone is what a writer left that was killed
     * between both moves.
     */
    private List<Path> taken(List<String> version, Path ownUndo, String undo) throws IOException {
        List<Path> files = new ArrayList<>(filesIn(folder));
        if (!undos.startsWith(folder)) {
            files.addAll(filesIn(undos));
        }
        List<Path> migrations = new ArrayList<>();
        List<Path> undos = new ArrayList<>();
        for (Path file : files) {
            Matcher name = FILE.matcher(file.getFileName().toString());
            if (name.matches() && numbers(name.group(2)).equals(version)) {
                (name.group(1).equals("V") ? migrations : undos).add(file);
            }
        }
        if (migrations.isEmpty()
                && undos.equals(List.of(ownUndo))
                && Files.readString(ownUndo).equals(undo)) {
            return List.of();
        }
        migrations.addAll(undos);
        return migrations;
    }

    private static List<Path> filesIn(Path folder) throws IOException {
        try (Stream<Path> walk = Files.walk(folder)) {
            return walk.filter(Files::isRegularFile).sorted().toList();
        }
    }

    /** Without leading zeros, and without zeros at the end. */
    private static List<String> numbers(String version) {
        List<String> numbers = new ArrayList<>();
        for (String number : version.split("[._]", -1)) {
            numbers.add(number.replaceFirst("^0+(?=.)", ""));
        }
        while (numbers.size() > 1 && numbers.get(numbers.size() - 1).equals("0")) {
            numbers.remove(numbers.size() - 1);
        }
        return numbers;
    }

    /** The undo first: it does nothing by itself, so a crash in between leaves nothing that a tool would run. */
    private void place(MigrationFiles files, String sql, String undo) throws IOException {
        Path sqlDraft = draft(folder);
        Path undoDraft = draft(undos);
        try {
            Files.writeString(sqlDraft, sql, StandardOpenOption.CREATE_NEW);
            Files.writeString(undoDraft, undo, StandardOpenOption.CREATE_NEW);
            Files.deleteIfExists(files.undo());
            Files.move(undoDraft, files.undo());
            try {
                Files.move(sqlDraft, files.migration());
            } catch (IOException e) {
                Files.deleteIfExists(files.undo());
                throw e;
            }
        } finally {
            Files.deleteIfExists(sqlDraft);
            Files.deleteIfExists(undoDraft);
        }
    }

    /** In the folder itself, so that it can be moved in one step; with a name that no tool takes for a migration. */
    private static Path draft(Path folder) {
        return folder.resolve(".fenceline-" + UUID.randomUUID() + ".tmp");
    }
}
