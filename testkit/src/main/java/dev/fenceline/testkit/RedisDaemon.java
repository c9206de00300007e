package dev.fenceline.testkit;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.IntSupplier;

/**
 * The program redis-server as a process that this JVM started, in a directory of its own, on the loopback address; as a server
 * or as a Sentinel.
 */
abstract class RedisDaemon implements RedisServer, ServerProcess {

    static final String HOST = "127.0.0.1";
    static final Duration START_LIMIT = Duration.ofSeconds(30);

    private static final int PORT_TRIES = 5;

    /** The text of redis.conf, once directory and port are known. */
    interface Configuration {
        String text(Path directory, int port);
    }

    /** How to start one: where its port comes from, what it is told, and what its clients must present. */
    record Launch(
            IntSupplier ports, Configuration configuration, List<String> arguments, Optional<String> passphrase) {}

    /** One that runs. */
    record Running(Launch launch, Path directory, int port, Process process) {

        /** Starts the program until a port was free and PING is answered. */
        static Running start(Launch launch) {
            RedisExecutable.find(); // fails before anything needs clearing up
            for (int attempt = 1; ; attempt++) {
                Path directory = Workspace.newDirectory("redis");
                int port = launch.ports().getAsInt();
                Workspace.write(
                        directory.resolve("redis.conf"), launch.configuration().text(directory, port));
                Running running = new Running(launch, directory, port, program(launch, directory));
                try {
                    running.awaitPing();
                    return running;
                } catch (IllegalStateException e) {
                    boolean portTaken = Workspace.tail(running.log()).contains("Address already in use");
                    running.kill();
                    Workspace.delete(directory);
                    if (!portTaken || attempt == PORT_TRIES) {
                        throw e;
                    }
                }
            }
        }

        private static Process program(Launch launch, Path directory) {
            List<String> command = new ArrayList<>(List.of(
                    RedisExecutable.find().path().toString(),
                    directory.resolve("redis.conf").toString()));
            command.addAll(launch.arguments());
            try {
                Process process = new ProcessBuilder(command)
                        .directory(directory.toFile())
                        .redirectErrorStream(true)
                        .redirectOutput(ProcessBuilder.Redirect.appendTo(
                                directory.resolve("redis.log").toFile()))
                        .start();
                Reaper.watch(process.pid(), "KILL", directory);
                return process;
            } catch (IOException e) {
                throw new IllegalStateException("Cannot start redis-server in " + directory + ".", e);
            }
        }

        Running again() {
            Running running = new Running(launch, directory, port, program(launch, directory));
            running.awaitPing();
            return running;
        }

        private void awaitPing() {
            Polling.until(
                    "Redis on port " + port + " answers PING",
                    START_LIMIT,
                    () -> {
                        if (!process.isAlive()) {
                            throw new IllegalStateException("redis-server on port " + port + " ended with "
                                    + process.exitValue() + ". Its log: " + Workspace.tail(log()));
                        }
                        return ask("PING").filter("PONG"::equals).isPresent();
                    },
                    () -> "Its log: " + Workspace.tail(log()));
        }

        Path log() {
            return directory.resolve("redis.log");
        }

        Optional<String> ask(String... words) {
            try {
                return Optional.of(RedisCommands.run(HOST, port, launch.passphrase(), words));
            } catch (IllegalStateException e) {
                return Optional.empty(); // not there yet, or still loading
            }
        }

        /** With a child that saves, which would go on, and write into the directory of the next start, or of nobody. */
        void kill() {
            ProcessTable.killWithDescendants(process.pid());
            Reaper.forget(process.pid());
        }
    }

    private Running running;

    RedisDaemon(Running running) {
        this.running = running;
    }

    /** Returns when it does what it was started for; PING is answered already. */
    abstract void awaitServing();

    private synchronized Running running() {
        return running;
    }

    /** The answer, or nothing from one that cannot answer now. */
    final Optional<String> ask(String... words) {
        return running().ask(words);
    }

    final Path log() {
        return running().log();
    }

    final Optional<String> passphrase() {
        return running().launch().passphrase();
    }

    /** Tells whether it could answer: it was neither killed nor paused. */
    final boolean awake() {
        long pid = pid();
        return !ProcessTable.gone(pid) && ProcessTable.state(pid) != 'T';
    }

    @Override
    public final String host() {
        return HOST;
    }

    @Override
    public final int port() {
        return running().port();
    }

    @Override
    public final long pid() {
        return running().process().pid();
    }

    @Override
    public final String command(String... words) {
        return RedisCommands.run(HOST, port(), passphrase(), words);
    }

    @Override
    public final synchronized void kill() {
        running.kill();
    }

    @Override
    public final synchronized void restart() {
        running.kill();
        running = running.again();
        awaitServing();
    }

    @Override
    public final synchronized void pause() {
        ProcessTable.stop(pid());
    }

    @Override
    public final synchronized void resume() {
        ProcessTable.resume(pid());
    }

    @Override
    public final synchronized void close() {
        running.kill();
        Workspace.delete(running.directory());
    }

    @Override
    public String toString() {
        return "Redis on port " + port() + ", pid " + pid();
    }
}
