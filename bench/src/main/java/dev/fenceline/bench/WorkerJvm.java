package dev.fenceline.bench;

import java.io.BufferedReader;
import java.io.BufferedWriter;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.OutputStreamWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** Another JVM with this class path and the compilers of production, unlike the testkit's, which is to start fast. */
final class WorkerJvm implements AutoCloseable {

    private final Process process;
    private final BufferedWriter orders;
    private final BufferedReader answers;

    WorkerJvm(Class<?> main, List<String> jvmOptions, List<String> args) throws IOException {
        List<String> command = new ArrayList<>();
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        command.addAll(jvmOptions);
        command.addAll(List.of("-cp", System.getProperty("java.class.path"), main.getName()));
        command.addAll(args);
        this.process = new ProcessBuilder(command)
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start();
        this.orders = new BufferedWriter(new OutputStreamWriter(process.getOutputStream(), StandardCharsets.UTF_8));
        this.answers = new BufferedReader(new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8));
    }

    void order(String line) throws IOException {
        orders.write(line);
        orders.newLine();
        orders.flush();
    }

    /** Reads the next line of its standard output; it must not have ended. */
    String answer() throws IOException {
        String line = answers.readLine();
        if (line == null) {
            throw new IOException("Process " + process.pid() + " ended before it answered; see standard error above.");
        }
        return line;
    }

    /** Kills it: whatever it holds ends with its lease, on a server that ends too. */
    @Override
    public void close() {
        process.destroyForcibly();
    }
}
