package dev.fenceline.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import picocli.CommandLine;
import picocli.CommandLine.MissingParameterException;
import picocli.CommandLine.ParameterException;

/** Every command that a page names is read as the command line reads it: whoever copies it is understood. */
class PagesTest {

    private static final Pattern SPAN = Pattern.compile("`([^`]+)`");
    private static final Pattern CODE = Pattern.compile("\"((?:postgres|redis)-[a-z-]+)\"");
    private static final Pattern WORD = Pattern.compile("'([^']*)'|\"([^\"]*)\"|(\\S+)");

    /** A command as a page has it; in a console it is whole, and in a sentence it may leave out what it is not about. */
    private record Written(String where, String text, boolean whole) {}

    private static List<Path> pages() throws IOException {
        try (Stream<Path> pages = Files.walk(Path.of("../docs"))) {
            return Stream.concat(
                            pages.filter(page -> page.toString().endsWith(".md")),
                            Stream.of(Path.of("../README.md"), Path.of("../CHANGELOG.md")))
                    .sorted()
                    .toList();
        }
    }

    private static List<Written> commands(Path page) throws IOException {
        List<Written> commands = new ArrayList<>();
        List<String> lines = Files.readAllLines(page);
        boolean fenced = false;
        for (int i = 0; i < lines.size(); i++) {
            String line = lines.get(i);
            String where = page.getFileName() + ":" + (i + 1);
            if (line.startsWith("```")) {
                fenced = !fenced;
            } else if (fenced && line.matches("(\\$ )?fenceline .*")) {
                commands.add(new Written(where, line.replaceFirst("^\\$ ", ""), true));
            } else if (!fenced) {
                Matcher span = SPAN.matcher(line);
                while (span.find()) {
                    commanded(span.group(1)).ifPresent(text -> commands.add(new Written(where, text, false)));
                }
            }
        }
        return commands;
    }

    /** Also where a sentence leaves out the first word: {@code locks show account:42}. A word alone may be anything. */
    private static Optional<String> commanded(String text) {
        if (text.matches("fenceline [a-z].*")) {
            return Optional.of(text);
        }
        int space = text.indexOf(' ');
        boolean command = space > 0
                && Fenceline.commandLine(new ScriptedTerminal())
                        .getSubcommands()
                        .containsKey(text.substring(0, space));
        return command ? Optional.of("fenceline " + text) : Optional.empty();
    }

    private static Optional<String> misread(Written written) {
        List<String> words = new ArrayList<>();
        Matcher word =
                WORD.matcher(written.text().replaceFirst("^fenceline ", "").replaceFirst(" ?…$", ""));
        while (word.find()) {
            words.add(Stream.of(1, 2, 3)
                    .map(word::group)
                    .filter(group -> group != null)
                    .findFirst()
                    .orElseThrow());
        }
        try {
            Fenceline.commandLine(new ScriptedTerminal()).parseArgs(words.toArray(String[]::new));
            return Optional.empty();
        } catch (MissingParameterException e) {
            // Told before what is unknown.
            CommandLine command = e.getCommandLine();
            return written.whole()
                    ? Optional.of(String.valueOf(e.getMessage()))
                    : words.stream()
                            .filter(each -> each.startsWith("-"))
                            .filter(each ->
                                    !command.getCommandSpec().optionsMap().containsKey(each))
                            .map(each -> "Unknown option " + each)
                            .findFirst();
        } catch (ParameterException e) {
            return Optional.of(String.valueOf(e.getMessage()));
        }
    }

    @Test
    void everyCommandOfEveryPageIsUnderstood() throws IOException {
        List<String> misread = new ArrayList<>();
        int read = 0;
        for (Path page : pages()) {
            for (Written written : commands(page)) {
                read++;
                misread(written).ifPresent(why -> misread.add(written.where() + ": " + written.text() + ": " + why));
            }
        }
        assertThat(misread).isEmpty();
        assertThat(read).as("commands that were found").isGreaterThan(50);
    }

    /** Whoever looks up what a doctor has found finds it. */
    @Test
    void everyCodeOfADoctorIsOnThePageForOperators() throws IOException {
        String page = Files.readString(Path.of("../docs/operations.md"));
        Set<String> codes = new TreeSet<>(Set.of("postgres-unasked", "redis-unasked"));
        for (String module : List.of("../migrations", "../lock")) {
            try (Stream<Path> files = Files.walk(Path.of(module, "src/main/java"))) {
                for (Path file :
                        files.filter(each -> each.toString().endsWith(".java")).toList()) {
                    Matcher code = CODE.matcher(Files.readString(file));
                    while (code.find()) {
                        codes.add(code.group(1));
                    }
                }
            }
        }
        assertThat(codes).hasSizeGreaterThan(35);
        // A row may name several: `postgres-schema-missing`, `-old`, `-new`.
        assertThat(codes.stream()
                        .filter(code -> !page.contains("`" + code + "`")
                                && !page.contains("`" + code.substring(code.lastIndexOf('-')) + "`"))
                        .toList())
                .as("in docs/operations.md")
                .isEmpty();
    }

    @Test
    void whatIsWrongIsSeen() {
        assertThat(misread(new Written("", "fenceline sql --out db --version 48 --description \"a b\" …", false)))
                .hasValue("Unknown options: '--description', 'a b'");
        assertThat(misread(new Written("", "fenceline protect --table a --way", false)))
                .hasValue("Unknown option --way");
        assertThat(misread(new Written("", "fenceline protect", true)))
                .hasValue("Missing required option: '--mode=MODE'");
        assertThat(misread(new Written("", "fenceline instal", false)))
                .hasValueSatisfying(why -> assertThat(why).contains("instal"));
        assertThat(misread(new Written("", "fenceline unprotect --table 'app.\"Odd Name\"'", true)))
                .isEmpty();
        assertThat(commanded("apply")).isEmpty();
        assertThat(commanded("fenceline.protect(x)")).isEmpty();
        assertThat(commanded("locks ls")).hasValue("fenceline locks ls");
    }
}
