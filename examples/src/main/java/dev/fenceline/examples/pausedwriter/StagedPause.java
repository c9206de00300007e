package dev.fenceline.examples.pausedwriter;

import dev.fenceline.LockName;
import dev.fenceline.examples.pausedwriter.WriterProcess.Accepted;
import dev.fenceline.examples.pausedwriter.WriterProcess.AtBarrier;
import dev.fenceline.examples.pausedwriter.WriterProcess.Outcome;
import dev.fenceline.examples.pausedwriter.WriterProcess.Refused;
import java.time.Duration;
import java.util.Locale;

/**
 * One pause, step by step and in the same order each time: A reads and is stopped, its lease runs out, B reads, A goes on and
 * writes, B writes. Each step begins when the one before has been seen to end, so nothing here depends on luck.
 */
final class StagedPause {

    private final Mode mode;
    private final Scene scene;
    private final Staging staging;
    private final Plan.Staged plan;
    private final LockName lock;
    private final WriterProcess a;
    private final WriterProcess b;
    private final LockServer redis;
    private final DemoDatabase database;
    private final EventFile events;
    private final Story story;

    StagedPause(Mode mode, Scene scene, Cast cast) {
        this.mode = mode;
        this.scene = scene;
        this.staging = Staging.of(mode, scene);
        this.plan = cast.plan().staged(scene);
        this.lock = Job.lock(mode, plan.account());
        this.a = cast.a();
        this.b = cast.b();
        this.redis = cast.redis();
        this.database = cast.database();
        this.events = cast.events();
        this.story = cast.story();
    }

    /** Everybody who takes part. */
    record Cast(
            Plan plan,
            WriterProcess a,
            WriterProcess b,
            LockServer redis,
            DemoDatabase database,
            EventFile events,
            Story story) {}

    /** Returns how many writes of the writer that had been stopped, seen in state T, were refused. */
    int run() {
        story.scene(scene.title(), "account " + plan.account() + ": " + staging.title());
        AtBarrier readByA = begin(a, plan.byA());
        stop(readByA);
        awaitLeaseEnd(readByA);
        begin(b, plan.byB());
        if (staging == Staging.B_FINISHES_FIRST) {
            write(b, plan.byB());
        }
        boolean refused = wake(readByA);
        if (staging != Staging.B_FINISHES_FIRST) {
            write(b, plan.byB());
        }
        if (refused) {
            // The session is over, the movement is not: a new grant, and a new read.
            begin(a, plan.byA());
            write(a, plan.byA());
        }
        return refused ? 1 : 0;
    }

    private AtBarrier begin(WriterProcess writer, Movement movement) {
        AtBarrier read = writer.begin(mode, scene, movement);
        story.step(
                who(writer),
                "gets the lock with token " + read.token() + ", reads " + Money.euros(read.balanceCents())
                        + " in version " + read.version());
        return read;
    }

    private void stop(AtBarrier readByA) {
        Duration left = redis.leaseLeft(lock);
        a.stop();
        events.add(mode, scene, Event.Kind.STOPPED, readByA.token(), "pid " + a.pid() + " stopped, state T");
        story.step(
                who(a),
                "stopped by SIGSTOP, state T in the process table; " + left.toMillis() + " ms of its lease are left");
    }

    private void awaitLeaseEnd(AtBarrier readByA) {
        long start = System.nanoTime();
        redis.awaitLeaseEnd(lock);
        events.add(mode, scene, Event.Kind.LEASE_ENDED, readByA.token(), "the key is gone from Redis");
        double seconds = (System.nanoTime() - start) / 1e9;
        story.step(
                "Redis", String.format(Locale.ROOT, "%.1f s later the key is gone: the lease of A has ended", seconds));
        if (staging == Staging.INSIDE_A_TRANSACTION) {
            database.awaitNoOpenTransaction(a.name());
            events.add(mode, scene, Event.Kind.TRANSACTION_ENDED, readByA.token(), "idle timeout of the server");
            story.step("PostgreSQL", "has ended A's idle transaction, which held the fence: B need not wait for A");
        }
    }

    private boolean wake(AtBarrier readByA) {
        a.requireStopped();
        a.tellToWrite();
        events.add(mode, scene, Event.Kind.CONTINUED, readByA.token(), "pid " + a.pid() + " continued");
        a.goOn();
        story.step(who(a), "continued by SIGCONT, goes on as if nothing had happened");
        Outcome outcome = a.awaitOutcome();
        report(a, plan.byA(), outcome);
        return outcome instanceof Refused;
    }

    private void write(WriterProcess writer, Movement movement) {
        writer.tellToWrite();
        report(writer, movement, writer.awaitOutcome());
    }

    private void report(WriterProcess writer, Movement movement, Outcome outcome) {
        String what = "writes " + Money.change(movement.amountCents()) + " (" + movement.purpose() + "): ";
        if (outcome instanceof Accepted accepted) {
            Written written = accepted.written();
            story.step(who(writer), what + "accepted, balance " + Money.euros(written.balanceCents()));
            if (written.baseVersion() != written.replacedVersion()) {
                story.step(
                        "",
                        "LOST UPDATE: computed from version " + written.baseVersion() + ", wiped out version "
                                + written.replacedVersion());
            }
        } else if (outcome instanceof Refused refused) {
            story.step(who(writer), what + "REFUSED");
            // The row itself refused the folklore's UPDATE; Fenceline refuses before it can run.
            story.step("", (mode == Mode.FENCED ? "not run: " : "") + refused.sql());
            story.step("", refused.message());
        }
    }

    private static String who(WriterProcess writer) {
        return writer.name() + " (" + writer.pid() + ")";
    }
}
