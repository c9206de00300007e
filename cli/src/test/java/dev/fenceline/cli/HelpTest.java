package dev.fenceline.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine;
import picocli.CommandLine.Model.ArgSpec;

/** What the command says of itself, and how it looks on a screen. */
class HelpTest {

    @TempDir
    private Path folder;

    private static Stream<CommandLine> commands() {
        CommandLine root = Fenceline.commandLine(new ScriptedTerminal());
        return root.getSubcommands().values().stream()
                .flatMap(command -> Stream.concat(Stream.of(command), command.getSubcommands().values().stream()));
    }

    @Test
    void everyCommandHasHelpAndTheExitCodesAreInTheFirstOne() {
        assertThat(new ScriptedTerminal().run("--help").ends(0).out())
                .contains("install", "after-restore", "Exit codes: 0 done; 1 refused, or something was found;")
                .doesNotContain("\u001b");
        assertThat(commands()).hasSize(31).allSatisfy(command -> {
            String[] words = (command.getCommandSpec().qualifiedName(" ").substring("fenceline ".length()) + " --help")
                    .split(" ");
            assertThat(new ScriptedTerminal().run(words).ends(0).out())
                    .contains("Usage: fenceline " + words[0])
                    .doesNotContain("--password ", "--redis-password ", "--pw");
        });
    }

    @Test
    void helpAndThePageNameTheSourcesOfPasswordsInTheOrderInWhichTheyAreTried() throws IOException {
        String help = new ScriptedTerminal().run("--help").ends(0).out();
        String page = Files.readString(Path.of("../docs/cli.md"));
        for (String text : List.of(
                help.substring(help.indexOf("in this order")), page.substring(page.indexOf("## Connections")))) {
            assertThat(text)
                    .containsSubsequence(
                            "--password-file",
                            "FENCELINE_PASSWORD",
                            "PGPASSWORD",
                            "FENCELINE_URL",
                            "~/.pgpass",
                            "prompt")
                    .containsSubsequence(
                            "--redis-password-file", "FENCELINE_REDIS_PASSWORD", "FENCELINE_REDIS", "prompt");
        }
    }

    @Test
    void whatIsNotUnderstoodIsASentence() {
        assertThat(Texts.sentence("Missing")).isEqualTo("Missing.");
        assertThat(Texts.sentence("Missing.")).isEqualTo("Missing.");
        for (String command : List.of("protect", "fence show", "apply --attempts many", "grant", "apply --file")) {
            assertThat(new ScriptedTerminal().run(command.split(" ")).ends(2).err())
                    .as(command)
                    .containsPattern("[.] See: fenceline [a-z ]+ --help");
        }
    }

    @Test
    void everyCommandThatDoesSomethingSpeaksJson() {
        assertThat(commands().filter(command -> command.getSubcommands().isEmpty()))
                .allSatisfy(command -> assertThat(command.getCommandSpec().findOption("--json"))
                        .as(command.getCommandName())
                        .isNotNull());
    }

    @Test
    void theVersionIsTold() {
        assertThat(new ScriptedTerminal().run("--version").ends(0).out()).startsWith("fenceline ");
    }

    @Test
    void wordsThatAreNoCommandsAreNamedWithWhatThereIs() {
        new ScriptedTerminal()
                .run("locks")
                .fails(2, "Which of its commands? ls, show, force-release. See: fenceline locks --help");
        new ScriptedTerminal().run().failsWith(2, "Missing required subcommand", "See: fenceline --help");
        new ScriptedTerminal().run("instal").failsWith(2, "too many", "See: fenceline --help");
        new ScriptedTerminal()
                .run("install", "--quick")
                .fails(2, "Unknown option '--quick'. See: fenceline install --help");
        assertThat(new ScriptedTerminal()
                        .run("install", "--quick", "--json")
                        .ends(2)
                        .json()
                        .toString())
                .isEqualTo(
                        "{\"command\":\"install\",\"outcome\":\"usage\",\"exitCode\":2,\"message\":\"Unknown option '--quick'. See:"
                                + " fenceline install --help\"}");
    }

    @Test
    void colourIsForScreensOfThoseWhoWantIt() {
        assertThat(new ScriptedTerminal().answering().run("install").err())
                .startsWith("\u001b[31mfenceline:\u001b[0m No database");
        assertThat(new ScriptedTerminal()
                        .answering()
                        .with("NO_COLOR", "1")
                        .run("install")
                        .err())
                .startsWith("fenceline: No");
        assertThat(new ScriptedTerminal()
                        .answering()
                        .with("NO_COLOR", "")
                        .run("install")
                        .err())
                .startsWith("\u001b[31m");
        assertThat(new ScriptedTerminal()
                        .answering()
                        .with("TERM", "dumb")
                        .run("install")
                        .err())
                .startsWith("fenceline: No");
        assertThat(new ScriptedTerminal().run("install").err()).startsWith("fenceline: No");
    }

    @Test
    void namesFromElsewhereMoveNoCursor() {
        assertThat(Report.ok().line("app \u001b[2J\u0007 order").lines(new ScriptedTerminal().answering()))
                .containsExactly("app \\u001b[2J\\u0007 order");
        assertThat(Texts.oneLine("a\r\n  b\u001b")).isEqualTo("a b\\u001b");
    }

    @Test
    void bashCompletesCommandsAndOptionsAndNoPasswords() throws IOException, InterruptedException {
        Ran ran = new ScriptedTerminal().run("completion").ends(0);
        Path script = Files.writeString(folder.resolve("fenceline_completion"), ran.out());
        Path probe = Files.writeString(folder.resolve("probe"), """
                source %s
                COMP_WORDS=(fenceline v); COMP_CWORD=1; _complete_fenceline; echo "${COMPREPLY[@]}"
                COMP_WORDS=(fenceline fence s); COMP_CWORD=2; _complete_fenceline; echo "${COMPREPLY[@]}"
                COMP_WORDS=(fenceline install --p); COMP_CWORD=2; _complete_fenceline; echo "${COMPREPLY[@]}"
                COMP_WORDS=(fenceline locks ls --kind ""); COMP_CWORD=4; _complete_fenceline; echo "${COMPREPLY[@]}"
                COMP_WORDS=(fenceline locks show --kind ""); COMP_CWORD=4; _complete_fenceline; echo "${COMPREPLY[@]}"
                COMP_WORDS=(fenceline protect --mode ""); COMP_CWORD=3; _complete_fenceline; echo "${COMPREPLY[@]}"
                COMP_WORDS=(fenceline plan --for ""); COMP_CWORD=3; _complete_fenceline; echo "${COMPREPLY[@]}"
                COMP_WORDS=(fenceline grant ""); COMP_CWORD=2; _complete_fenceline; echo "${COMPREPLY[@]}"
                """.formatted(script));
        Process bash = new ProcessBuilder("bash", probe.toString())
                .redirectErrorStream(true)
                .start();
        String said = new String(bash.getInputStream().readAllBytes(), java.nio.charset.StandardCharsets.UTF_8);
        assertThat(bash.waitFor(30, TimeUnit.SECONDS)).isTrue();
        // Outside of a real completion bash says of compopt that it has nothing to do.
        assertThat(said.lines().filter(line -> !line.contains("compopt")))
                .containsExactly(
                        "verify violations",
                        "show",
                        "--password-file",
                        "fenced efficiency",
                        "fenced efficiency",
                        "observe enforce",
                        "protect unprotect add-columns drop-columns",
                        "app rows protection operations bypass");
    }

    /** The whole kind: a word that is offered is one that is read. */
    @Test
    void everyWordThatIsOfferedIsRead() {
        List<ArgSpec> offering = commands()
                .flatMap(command -> command.getCommandSpec().args().stream())
                .filter(argument -> argument.completionCandidates() != null)
                .toList();
        assertThat(offering)
                .hasSizeGreaterThan(8)
                .allSatisfy(argument -> assertThat(argument.completionCandidates())
                        .allSatisfy(word -> assertThat(argument.converters()[0].convert(word))
                                .as(argument.paramLabel())
                                .isNotNull()));
    }

    @Test
    void thePageOfTheCommandLineKnowsEveryCommand() throws IOException {
        String page = Files.readString(Path.of("../docs/cli.md"));
        List<String> missing = new ArrayList<>();
        commands().forEach(command -> {
            String name = command.getCommandSpec().qualifiedName(" ").substring("fenceline ".length());
            if (!page.contains("`" + name)) {
                missing.add(name);
            }
            command.getCommandSpec().options().stream()
                    .filter(option -> !option.hidden() && !option.longestName().equals("--help"))
                    .filter(option -> !page.contains(option.longestName()))
                    .forEach(option -> missing.add(name + " " + option.longestName()));
        });
        assertThat(missing).as("in docs/cli.md").isEmpty();
    }
}
