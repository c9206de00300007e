package dev.fenceline.examples.pausedwriter;

import dev.fenceline.testkit.ChildJvm;
import java.time.Duration;
import java.util.List;

/** A writer as the conductor sees it: a child process that is told what to do, stopped, and continued. */
final class WriterProcess implements AutoCloseable {

    /** What a writer has read, and under which token. */
    record AtBarrier(long token, long balanceCents, long version) {}

    /** How a write ended. */
    sealed interface Outcome permits Accepted, Refused {}

    /** The database took it. */
    record Accepted(Written written) implements Outcome {}

    /** The database refused it. */
    record Refused(String sql, String message) implements Outcome {}

    private static final Duration STEP_LIMIT = Duration.ofSeconds(15);
    private static final Duration START_LIMIT = Duration.ofSeconds(30);
    private static final Duration BULK_LIMIT = Duration.ofSeconds(60);
    private static final char STOPPED = 'T';

    private final String name;
    private final ChildJvm process;

    private WriterProcess(String name, ChildJvm process) {
        this.name = name;
        this.process = process;
    }

    static WriterProcess start(String name, String redisUri, String jdbcUrl, String directory) {
        return new WriterProcess(name, ChildJvm.start(Writer.class, name, redisUri, jdbcUrl, directory));
    }

    String name() {
        return name;
    }

    long pid() {
        return process.pid();
    }

    void awaitReady() {
        await(Reply.READY, START_LIMIT);
    }

    AtBarrier begin(Mode mode, Scene scene, Movement movement) {
        process.send(Command.BEGIN.line(mode, scene, movement.id()));
        List<String> reply = await(Reply.AT_BARRIER, STEP_LIMIT);
        return new AtBarrier(Long.parseLong(reply.get(1)), Long.parseLong(reply.get(2)), Long.parseLong(reply.get(3)));
    }

    /** Lets the writer leave the barrier; if it is stopped, it will read this when it wakes. */
    void tellToWrite() {
        process.send(Command.WRITE.line());
    }

    Outcome awaitOutcome() {
        List<String> reply = await(Reply.OUTCOME, STEP_LIMIT);
        return reply.get(1).equals(Reply.ACCEPTED)
                ? new Accepted(new Written(
                        Long.parseLong(reply.get(2)), Long.parseLong(reply.get(3)), Long.parseLong(reply.get(4))))
                : new Refused(reply.get(2), reply.get(3));
    }

    void tellToBookBulk(Mode mode, Plan.Half half) {
        process.send(Command.BULK.line(mode, half));
    }

    /** Returns how many sessions and movements it was. */
    List<Integer> awaitBulk() {
        List<String> reply = await(Reply.BULK, BULK_LIMIT);
        return List.of(Integer.valueOf(reply.get(1)), Integer.valueOf(reply.get(2)));
    }

    /** Returns what the writer says of the daily statement: that it runs it, or who else does. */
    List<String> statement() {
        process.send(Command.STATEMENT.line());
        return await(Reply.STATEMENT, STEP_LIMIT);
    }

    List<String> finishStatement() {
        process.send(Command.FINISH.line());
        return await(Reply.STATEMENT, STEP_LIMIT);
    }

    /** Stops the process by SIGSTOP and makes sure, in the process table, that it is. */
    void stop() {
        process.pause();
        requireStopped();
    }

    void requireStopped() {
        char state = process.state();
        if (state != STOPPED) {
            throw new IllegalStateException("Writer " + name + ", pid " + pid()
                    + ", was to be stopped, but its state is " + state + ", not T.");
        }
    }

    void goOn() {
        process.resume();
    }

    @Override
    public void close() {
        process.close();
    }

    private List<String> await(Reply reply, Duration limit) {
        return Fields.split(process.awaitLine(reply.name(), limit));
    }
}
