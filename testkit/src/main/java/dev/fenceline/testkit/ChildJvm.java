package dev.fenceline.testkit;

import java.io.BufferedReader;
import java.io.BufferedWriter;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.OutputStreamWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;

/**
 * A second JVM with this one's class path: a holder of a lock that can sleep through its lease, or die.
 *
 * <p>The two talk by lines: {@link #awaitLine} reads what the child prints, {@link #send} writes to its standard input. What
 * the child writes to standard error appears in the message of any failure here.
 *
 * <p><b>Guarantees:</b> the child does not outlive this JVM, even if this JVM is killed (on Linux and macOS).
 *
 * <p><b>Thread-safety:</b> any thread, but one at a time reads lines.
 *
 * <p><b>Errors:</b> {@link IllegalStateException} when something awaited did not happen; the message holds what was seen.
 */
public final class ChildJvm implements AutoCloseable {

    private static final String END_OF_OUTPUT = "\u0000end";

    private final Process process;
    private final Path directory;
    private final BufferedWriter input;
    private final BlockingQueue<String> lines = new LinkedBlockingQueue<>();
    private final List<String> seen = new ArrayList<>();

    private ChildJvm(Process process, Path directory) {
        this.process = process;
        this.directory = directory;
        this.input = new BufferedWriter(new OutputStreamWriter(process.getOutputStream(), StandardCharsets.UTF_8));
        Thread reader = new Thread(() -> read(process.getInputStream()), "child-jvm-" + process.pid() + "-output");
        reader.setDaemon(true);
        reader.start();
    }

    /**
     * Starts a program.
     *
     * @param main its main class, on this JVM's class path
     * @param args its arguments
     * @return a running JVM
     */
    public static ChildJvm start(Class<?> main, String... args) {
        return start(classPath(), List.of(), main.getName(), args);
    }

    /** Starts a program with a class path and options of its own. */
    static ChildJvm start(String classPath, List<String> options, String main, String... args) {
        Path directory = Workspace.newDirectory("child");
        // A class path can be longer than a command line may be.
        Path file = directory.resolve("java-options");
        Workspace.write(file, "-cp\n\"" + classPath.replace("\\", "\\\\").replace("\"", "\\\"") + "\"\n");
        List<String> command = new ArrayList<>(List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "@" + file,
                "-XX:TieredStopAtLevel=1",
                "-XX:+UseSerialGC",
                "-Xmx256m",
                "-Dfile.encoding=UTF-8",
                "-Dstdout.encoding=UTF-8",
                "-Dstderr.encoding=UTF-8"));
        command.addAll(options);
        command.add(main);
        command.addAll(List.of(args));
        try {
            Process process = new ProcessBuilder(command)
                    .redirectError(directory.resolve("stderr").toFile())
                    .start();
            Reaper.watch(process.pid(), "KILL", directory);
            return new ChildJvm(process, directory);
        } catch (IOException e) {
            throw new IllegalStateException("Cannot start a JVM for " + main + ".", e);
        }
    }

    /** Surefire may hand its own class path over in a jar with nothing but a manifest. */
    static String classPath() {
        return Optional.ofNullable(System.getProperty("surefire.test.class.path"))
                .orElseGet(() -> System.getProperty("java.class.path", ""));
    }

    private void read(InputStream output) {
        try (BufferedReader reader = new BufferedReader(new InputStreamReader(output, StandardCharsets.UTF_8))) {
            for (String line = reader.readLine(); line != null; line = reader.readLine()) {
                lines.add(line);
            }
        } catch (IOException e) {
            lines.add("(its output broke off: " + e.getMessage() + ")");
        }
        lines.add(END_OF_OUTPUT);
    }

    /**
     * Returns the process id.
     *
     * @return the pid
     */
    public long pid() {
        return process.pid();
    }

    /**
     * Waits for a line of the child's standard output, passing over those that begin otherwise.
     *
     * @param prefix how it begins
     * @param limit how long to wait
     * @return the whole line
     * @throws IllegalStateException when the time is over or the child ends first; the message holds what it printed
     */
    public String awaitLine(String prefix, Duration limit) {
        long deadline = System.nanoTime() + limit.toNanos();
        try {
            while (true) {
                String line = lines.poll(deadline - System.nanoTime(), TimeUnit.NANOSECONDS);
                if (line == null) {
                    throw failure("printed no line '" + prefix + "…' within " + limit.toMillis() + " ms");
                }
                if (line.equals(END_OF_OUTPUT)) {
                    lines.add(END_OF_OUTPUT);
                    // The exit code comes a moment later than the end of the output.
                    process.waitFor(2, TimeUnit.SECONDS);
                    throw failure("ended its output without a line '" + prefix + "…'");
                }
                seen.add(line);
                if (line.startsWith(prefix)) {
                    return line;
                }
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("Interrupted while waiting for a line '" + prefix + "…'.", e);
        }
    }

    /**
     * Writes a line to the child's standard input.
     *
     * @param line without a line feed
     */
    public void send(String line) {
        try {
            input.write(line);
            input.newLine();
            input.flush();
        } catch (IOException e) {
            throw failure("took no line '" + line + "': " + e.getMessage());
        }
    }

    /**
     * Stops the child by SIGSTOP: as a pause of garbage collection or of a virtual machine, but as long as a test wants.
     * Returns when the process table says that all its threads have stopped.
     *
     * @throws IllegalStateException on Windows, which has no SIGSTOP
     */
    public void pause() {
        ProcessTable.stop(process.pid());
    }

    /** Continues the child by SIGCONT. Returns when the process table no longer says stopped. */
    public void resume() {
        ProcessTable.resume(process.pid());
    }

    /**
     * Asks the process table.
     *
     * @return R running, S and D sleeping, T stopped, Z ended but not yet collected, X gone
     */
    public char state() {
        return ProcessTable.state(process.pid());
    }

    /** Asks the child to end, by SIGTERM: its shutdown hooks run. Does not wait. */
    public void terminate() {
        process.toHandle().destroy(); // Process.destroy() would close the streams, and with them the child's last words
    }

    /** Ends the child by SIGKILL, also while it is paused, and waits until it is gone. */
    public void kill() {
        process.toHandle().destroyForcibly();
        ProcessTable.awaitGone(process.pid());
    }

    /**
     * Waits for the child to end.
     *
     * @param limit how long to wait
     * @return its exit code
     * @throws IllegalStateException when it still runs then
     */
    public int awaitExit(Duration limit) {
        try {
            if (!process.waitFor(limit.toNanos(), TimeUnit.NANOSECONDS)) {
                throw failure("still runs after " + limit.toMillis() + " ms");
            }
            return process.exitValue();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("Interrupted while waiting for process " + process.pid() + " to end.", e);
        }
    }

    private IllegalStateException failure(String what) {
        lines.drainTo(seen);
        if (seen.remove(END_OF_OUTPUT)) {
            lines.add(END_OF_OUTPUT);
        }
        String fate = process.isAlive() ? "state " + state() : "ended with " + process.exitValue();
        return new IllegalStateException("JVM " + process.pid() + " (" + fate + ") " + what + ". It printed "
                + (seen.isEmpty() ? "nothing" : String.join("\n", seen)) + "\nStandard error: "
                + Workspace.tail(directory.resolve("stderr")));
    }

    /** Kills the child if it still runs, and removes its files. Idempotent. */
    @Override
    public void close() {
        kill();
        Reaper.forget(process.pid());
        try {
            input.close();
        } catch (IOException e) {
            // A line that it never read was still buffered; there is nobody left to read it.
            return;
        } finally {
            Workspace.delete(directory);
        }
    }
}
