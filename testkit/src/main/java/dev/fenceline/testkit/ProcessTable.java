package dev.fenceline.testkit;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.stream.Stream;

/** What the operating system says about a process, and the signals that Java cannot send. */
final class ProcessTable {

    /** What {@link #state} answers for a process that is gone. */
    static final char GONE = 'X';

    private static final Duration LIMIT = Duration.ofSeconds(10);
    private static final Path PROC = Path.of("/proc");
    private static final boolean LINUX = Files.isReadable(PROC.resolve("self/stat"));

    private ProcessTable() {}

    static boolean windows() {
        return System.getProperty("os.name", "").toLowerCase(Locale.ROOT).startsWith("windows");
    }

    static char state(long pid) {
        return LINUX ? linuxState(PROC.resolve(Long.toString(pid)).resolve("stat")) : posixState(pid);
    }

    static void stop(long pid) {
        signal("STOP", pid);
        Polling.until(
                "process " + pid + " stops after SIGSTOP",
                LIMIT,
                () -> stopped(pid),
                () -> "Its state is " + state(pid) + ".");
    }

    static void resume(long pid) {
        signal("CONT", pid);
        Polling.until("process " + pid + " runs again after SIGCONT", LIMIT, () -> state(pid) != 'T');
    }

    static void awaitGone(long pid) {
        Polling.until("process " + pid + " ends", LIMIT, () -> gone(pid), () -> "Its state is " + state(pid) + ".");
    }

    static boolean gone(long pid) {
        char state = state(pid);
        // A zombie whose parent has only not asked for its exit code yet holds no port and no file any more. But the
        // first
        // thread can be a zombie while others still end, and those hold everything.
        return state == GONE || (state == 'Z' && threads(pid) <= 1);
    }

    private static long threads(long pid) {
        if (!LINUX) {
            return 1;
        }
        try (Stream<Path> threads = Files.list(PROC.resolve(Long.toString(pid)).resolve("task"))) {
            return threads.count();
        } catch (IOException e) {
            return 0;
        }
    }

    /**
     * Ends a process and all that it has made, and returns when they are gone. It is stopped first, or it could make another one after
     * these were collected; and they are collected while they are its descendants, since orphans are nobody's.
     */
    static void killWithDescendants(long pid) {
        if (gone(pid)) {
            return;
        }
        stop(pid);
        List<ProcessHandle> made = ProcessHandle.of(pid)
                .map(process -> process.descendants().toList())
                .orElse(List.of());
        signal("KILL", pid);
        made.forEach(ProcessHandle::destroyForcibly);
        awaitGone(pid);
        made.forEach(process -> awaitGone(process.pid()));
    }

    static void signal(String name, long pid) {
        if (windows()) {
            throw new IllegalStateException("Process " + pid + " was not sent SIG" + name
                    + ": pausing a process needs SIGSTOP, which Windows does not have. Run this on Linux or macOS.");
        }
        // The shell's own kill: a lean image has no /bin/kill.
        run(List.of("sh", "-c", "kill -s \"$1\" \"$2\"", "sh", name, Long.toString(pid)));
    }

    private static boolean stopped(long pid) {
        if (!LINUX) {
            return state(pid) == 'T';
        }
        // The first thread of a JVM only waits for the others, which are stopped one after the other.
        try (Stream<Path> threads = Files.list(PROC.resolve(Long.toString(pid)).resolve("task"))) {
            return threads.allMatch(thread -> {
                char state = linuxState(thread.resolve("stat"));
                return state == 'T' || state == GONE;
            });
        } catch (IOException e) {
            throw new IllegalStateException("Process " + pid + " ended instead of stopping.", e);
        }
    }

    private static char linuxState(Path stat) {
        try {
            // The name in parentheses may hold spaces and parentheses itself.
            String line = Files.readString(stat, StandardCharsets.ISO_8859_1);
            return line.charAt(line.lastIndexOf(')') + 2);
        } catch (IOException e) {
            return GONE;
        }
    }

    private static char posixState(long pid) {
        if (Optional.of(pid).flatMap(ProcessHandle::of).isEmpty()) {
            return GONE;
        }
        String state = run(List.of("ps", "-o", "state=", "-p", Long.toString(pid)));
        return state.isBlank() ? GONE : state.strip().charAt(0);
    }

    private static String run(List<String> command) {
        try {
            Process process =
                    new ProcessBuilder(command).redirectErrorStream(true).start();
            process.getOutputStream().close();
            String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
            int code = process.waitFor();
            if (code != 0 && !output.isBlank()) {
                throw new IllegalStateException(
                        String.join(" ", command) + " ended with " + code + ": " + output.strip());
            }
            return output;
        } catch (IOException e) {
            throw new IllegalStateException("Cannot run " + command.get(0) + ".", e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("Interrupted while running " + String.join(" ", command) + ".", e);
        }
    }
}
