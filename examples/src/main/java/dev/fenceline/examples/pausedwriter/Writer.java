package dev.fenceline.examples.pausedwriter;

import dev.fenceline.FencedLease;
import dev.fenceline.Lease;
import dev.fenceline.LeaseLostException;
import dev.fenceline.LockName;
import dev.fenceline.LockNotAcquiredException;
import dev.fenceline.LockOptions;
import dev.fenceline.Locks;
import dev.fenceline.StaleTokenException;
import dev.fenceline.lock.RedisLocks;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;

/**
 * One of the two writers, a process of its own. Does what the conductor says on its standard input, answers on its standard
 * output, and ends when its input ends.
 */
public final class Writer {

    static final Duration LEASE = Duration.ofSeconds(2);
    static final Duration LONGEST_WAIT = Duration.ofSeconds(10);
    private static final int MOST_ATTEMPTS = 5;

    private final String name;
    private final Locks locks;
    private final WriterSessions sessions;
    private final EventFile events;
    private final Ledger ledger = Ledger.fromResource();
    private final Plan plan = new Plan(ledger);
    private final BufferedReader commands =
            new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));

    private Writer(String name, Locks locks, WriterSessions sessions, EventFile events) {
        this.name = name;
        this.locks = locks;
        this.sessions = sessions;
        this.events = events;
    }

    /**
     * Runs a writer.
     *
     * @param args its name, the URI of Redis, the JDBC URL of PostgreSQL, and the directory for its event file
     * @throws Exception when something failed that the demo does not stage; the conductor shows it
     */
    public static void main(String[] args) throws Exception {
        String name = args[0];
        try (Locks locks = RedisLocks.connect(args[1], options(name));
                WriterSessions sessions = WriterSessions.connect(args[2], name)) {
            new Writer(name, locks, sessions, EventFile.in(Path.of(args[3]), name)).obey();
        }
    }

    private static LockOptions options(String name) {
        return LockOptions.builder()
                .lease(LEASE)
                .application("writer " + name)
                // One server without replicas: there is no second clock that could differ from the first.
                .masterClockSkew(Duration.ZERO)
                // A fresh bucket starts this far ahead of the clock. Small, so that tokens tell the time.
                .clockStepTolerance(Duration.ofMillis(100))
                .build();
    }

    private void obey() throws IOException, SQLException, InterruptedException {
        say(Reply.READY.line());
        for (String line = commands.readLine(); line != null; line = commands.readLine()) {
            List<String> command = Fields.split(line);
            switch (Command.valueOf(command.get(0))) {
                case BULK -> bulk(Mode.valueOf(command.get(1)), Plan.Half.valueOf(command.get(2)));
                case BEGIN ->
                    staged(
                            Mode.valueOf(command.get(1)),
                            Scene.valueOf(command.get(2)),
                            ledger.movement(command.get(3)));
                case STATEMENT -> statement();
                case WRITE, FINISH -> throw new IllegalStateException("Told to go on, but not at a barrier: " + line);
            }
        }
    }

    private void bulk(Mode mode, Plan.Half half) throws SQLException, InterruptedException {
        int sessionsDone = 0;
        int movementsDone = 0;
        for (Plan.Batch batch : plan.batches(name, half)) {
            bookInTheEnd(new Job(mode, Scene.BULK, batch.account(), batch.movements()));
            sessionsDone++;
            movementsDone += batch.movements().size();
        }
        say(Reply.BULK.line(sessionsDone, movementsDone));
    }

    /** A session that was overtaken is over; its movements are not. They are tried again under a new grant. */
    private void bookInTheEnd(Job job) throws SQLException, InterruptedException {
        for (int attempt = 1; ; attempt++) {
            try {
                book(job, Session.Barrier.OPEN);
                return;
            } catch (WriteRefused | StaleTokenException | LeaseLostException e) {
                if (attempt == MOST_ATTEMPTS) {
                    throw e;
                }
            }
        }
    }

    private void staged(Mode mode, Scene scene, Movement movement) throws SQLException, InterruptedException {
        Job job = new Job(mode, scene, movement.account(), List.of(movement));
        try {
            Written written = book(job, (token, state) -> {
                events.add(mode, scene, Event.Kind.READ, token, Money.euros(state.balanceCents()));
                say(Reply.AT_BARRIER.line(token, state.balanceCents(), state.version()));
                awaitCommand(Command.WRITE);
            });
            say(Reply.OUTCOME.line(
                    Reply.ACCEPTED, written.balanceCents(), written.baseVersion(), written.replacedVersion()));
        } catch (WriteRefused refused) {
            say(Reply.OUTCOME.line(Reply.REFUSED, refused.sql(), String.valueOf(refused.getMessage())));
        }
    }

    private Written book(Job job, Session.Barrier barrier) throws SQLException, InterruptedException {
        Session session = sessions.of(job);
        FencedLease lease = locks.fenced(job.lock()).acquireWithin(LONGEST_WAIT);
        long token = lease.token().value();
        events.add(
                job.mode(), job.scene(), Event.Kind.GRANTED, token, job.lock().toString());
        try (lease) {
            return session.book(lease, job, barrier);
        } catch (WriteRefused refused) {
            events.add(job.mode(), job.scene(), Event.Kind.REFUSED, token, String.valueOf(refused.getMessage()));
            throw refused;
        } finally {
            events.add(job.mode(), job.scene(), Event.Kind.RELEASED, token, "");
        }
    }

    /** Work that may happen twice, but need not: whoever comes second skips it. No token, no fence. */
    private void statement() throws SQLException, InterruptedException {
        LockName job = LockName.of("statement", "2026-11-29");
        try (Lease lease = locks.efficiency(job).acquireWithin(Duration.ZERO)) {
            say(Reply.STATEMENT.line(Reply.RUNNING));
            awaitCommand(Command.FINISH);
            lease.requireHeld();
            WriterSessions.Statement statement = sessions.statement();
            say(Reply.STATEMENT.line(Reply.DONE, statement.accounts(), statement.sumCents()));
        } catch (LockNotAcquiredException held) {
            say(Reply.STATEMENT.line(Reply.SKIPPED, String.valueOf(held.getMessage())));
        }
    }

    private void awaitCommand(Command expected) {
        try {
            String line = commands.readLine();
            if (!expected.name().equals(line)) {
                throw new IllegalStateException("At a barrier, expected " + expected + ", got: " + line);
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static void say(String line) {
        System.out.println(line);
        System.out.flush();
    }
}
