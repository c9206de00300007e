package dev.fenceline.cli;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** A terminal whose answers are known, and that keeps what was written. */
final class ScriptedTerminal implements Terminal {

    final StringWriter out = new StringWriter();
    final StringWriter err = new StringWriter();
    final List<String> questions = new ArrayList<>();
    private final Map<String, String> variables = new HashMap<>();
    private final Deque<String> answers = new ArrayDeque<>();
    private boolean screen;
    private Path directory = Path.of("target");

    /** Sets a variable of the environment. */
    ScriptedTerminal with(String variable, String value) {
        variables.put(variable, value);
        return this;
    }

    ScriptedTerminal in(Path folder) {
        directory = folder;
        return this;
    }

    /** Somebody is there, who gives these answers. */
    ScriptedTerminal answering(String... lines) {
        screen = true;
        answers.addAll(List.of(lines));
        return this;
    }

    Ran run(String... arguments) {
        out.getBuffer().setLength(0);
        err.getBuffer().setLength(0);
        int code = Fenceline.run(this, arguments);
        return new Ran(code, out.toString(), err.toString());
    }

    @Override
    public PrintWriter out() {
        return new PrintWriter(out, true);
    }

    @Override
    public PrintWriter err() {
        return new PrintWriter(err, true);
    }

    @Override
    public Optional<String> variable(String name) {
        return Optional.ofNullable(variables.get(name)).filter(value -> !value.isEmpty());
    }

    @Override
    public boolean answers() {
        return screen;
    }

    @Override
    public boolean errIsScreen() {
        return screen;
    }

    @Override
    public String ask(String question) {
        questions.add(question);
        return answers.isEmpty() ? "" : answers.remove();
    }

    @Override
    public String askSecretly(String question) {
        return ask("[hidden] " + question);
    }

    @Override
    public Path directory() {
        return directory;
    }
}
