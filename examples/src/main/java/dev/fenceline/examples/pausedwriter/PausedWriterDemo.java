package dev.fenceline.examples.pausedwriter;

import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/** The demo: {@code mvn -q -Pdemo}. Shows what a paused writer does to a balance, and fails if it cannot show it. */
public final class PausedWriterDemo {

    /** The demo showed what it says. */
    static final int SHOWN = 0;
    /** The fence lost something, or the controls did not. */
    static final int NOT_SHOWN = 1;
    /** This system has no SIGSTOP. */
    static final int UNSUPPORTED = 2;
    /** Something broke on the way. */
    static final int BROKEN = 3;

    private static final Duration LIMIT = Duration.ofSeconds(150);

    private PausedWriterDemo() {}

    /**
     * Runs the demo and ends the process.
     *
     * @param args the directory for the page and the files of the run; {@code target} if none is given
     */
    public static void main(String[] args) {
        PrintStream out = new PrintStream(new FileOutputStream(FileDescriptor.out), true, StandardCharsets.UTF_8);
        Path target = Path.of(args.length == 0 ? "target" : args[0]);
        System.exit(run(out, target, System.getProperty("os.name")));
    }

    static int run(PrintStream out, Path target, String system) {
        if (system.startsWith("Windows")) {
            out.println("This demo stops a process by SIGSTOP, which Windows does not have. Run it on Linux or macOS,"
                    + " or in WSL.");
            return UNSUPPORTED;
        }
        FutureTask<Summary> demo = new FutureTask<>(() -> new Conductor(new Story(out), target).conduct());
        Thread thread = new Thread(demo, "conductor");
        thread.setDaemon(true);
        thread.start();
        try {
            return verdict(out, demo.get(LIMIT.toSeconds(), TimeUnit.SECONDS));
        } catch (TimeoutException e) {
            return broken(out, "it did not end within " + LIMIT.toSeconds() + " s.");
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return broken(out, "it was interrupted.");
        } catch (ExecutionException e) {
            Throwable failure = e.getCause() == null ? e : e.getCause();
            failure.printStackTrace(out);
            return broken(out, String.valueOf(failure.getMessage()));
        }
    }

    static int verdict(PrintStream out, Summary summary) {
        List<String> complaints = summary.complaints();
        if (complaints.isEmpty()) {
            out.println(
                    "   Both controls lost money under the lock. Fenceline refused the paused writer and lost nothing.");
            return SHOWN;
        }
        complaints.forEach(complaint -> out.println("   FAILED: " + complaint));
        return NOT_SHOWN;
    }

    private static int broken(PrintStream out, String why) {
        out.println("   BROKEN: " + why);
        return BROKEN;
    }
}
