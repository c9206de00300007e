package dev.fenceline.examples.springboot;

import dev.fenceline.testkit.ChildJvm;
import java.net.URI;
import java.time.Duration;
import java.util.stream.Stream;
import org.springframework.context.ConfigurableApplicationContext;

/** An instance in a process of its own, whose clearing is the test's, so that it can be stopped in the middle of a request. */
final class Sleeper implements AutoCloseable {

    private static final Duration START = Duration.ofMinutes(3); // a few seconds, on a machine that does nothing else
    private static final String ADDRESS = "LISTENING ";

    private final ChildJvm process;

    private Sleeper(ChildJvm process) {
        this.process = process;
    }

    static Sleeper start(Bank bank, Duration lease) {
        String[] settings = Stream.concat(
                        Stream.of(Instance.settings(bank, lease)), Stream.of("--spring.profiles.active=staged"))
                .toArray(String[]::new);
        return new Sleeper(ChildJvm.start(Main.class, settings));
    }

    /** Waits until it listens. */
    Instance instance() {
        return new Instance(URI.create(process.awaitLine(ADDRESS, START).substring(ADDRESS.length())));
    }

    /** Waits until a request has read and asks for the confirmation. */
    void awaitTheMiddle() {
        process.awaitLine("ASKED", Instance.LIMIT);
    }

    /** Lets that request go on. */
    void confirm() {
        process.send("confirmed");
    }

    /** Stops the process by SIGSTOP. */
    void stop() {
        process.pause();
    }

    /** Continues it, as if nothing had happened. */
    void wake() {
        process.resume();
    }

    char state() {
        return process.state();
    }

    @Override
    public void close() {
        process.close();
    }

    /** The process. */
    static final class Main {

        private Main() {}

        public static void main(String[] args) {
            ConfigurableApplicationContext context = Instance.start(args);
            System.out.println(ADDRESS + Instance.of(context).address());
        }
    }
}
