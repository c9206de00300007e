package dev.fenceline.cli;

import java.time.Duration;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import java.util.function.LongSupplier;

/**
 * Says on standard error what goes on, once it has taken longer than two seconds: on a screen in one line that is written over,
 * elsewhere by a line every ten seconds. Any thread.
 */
final class Progress implements AutoCloseable {

    private static final Duration PATIENCE = Duration.ofSeconds(2);
    private static final Duration PERIOD = Duration.ofSeconds(10);

    private final Terminal terminal;
    private final LongSupplier nanos;
    private final long begun;
    private final ScheduledExecutorService ticking;
    private String state;
    private long lastLine = Long.MIN_VALUE;
    private int width;

    private Progress(Terminal terminal, String first, LongSupplier nanos, ScheduledExecutorService ticking) {
        this.terminal = terminal;
        this.state = first;
        this.nanos = nanos;
        this.begun = nanos.getAsLong();
        this.ticking = ticking;
    }

    /** Watches some work, which may say how far it is. */
    static <T> T during(Terminal terminal, String first, Function<Progress, T> work) {
        try (Progress progress = of(terminal, first)) {
            return work.apply(progress);
        }
    }

    static Progress of(Terminal terminal, String first) {
        ScheduledExecutorService ticking = Executors.newSingleThreadScheduledExecutor(work -> {
            Thread thread = new Thread(work, "fenceline-progress");
            thread.setDaemon(true);
            return thread;
        });
        Progress progress = new Progress(terminal, first, System::nanoTime, ticking);
        var unused = ticking.scheduleAtFixedRate(progress::tick, 250, 250, TimeUnit.MILLISECONDS);
        return progress;
    }

    /** With the time of somebody else, who ticks. */
    static Progress of(Terminal terminal, String first, LongSupplier nanos) {
        return new Progress(terminal, first, nanos, Executors.newSingleThreadScheduledExecutor());
    }

    synchronized void now(String what) {
        state = what;
    }

    synchronized void tick() {
        long now = nanos.getAsLong();
        Duration taken = Duration.ofNanos(now - begun);
        if (taken.compareTo(PATIENCE) < 0) {
            return;
        }
        String line = Texts.oneLine(state) + " (" + taken.toSeconds() + " s)";
        if (terminal.errIsScreen()) {
            terminal.err().print("\r" + line + " ".repeat(Math.max(0, width - line.length())));
            terminal.err().flush();
            width = line.length();
        } else if (lastLine == Long.MIN_VALUE || now - lastLine >= PERIOD.toNanos()) {
            terminal.err().println(line);
            lastLine = now;
        }
    }

    /** Ends it, and clears the line. */
    @Override
    public void close() {
        ticking.shutdownNow();
        synchronized (this) {
            if (width > 0) {
                terminal.err().print("\r" + " ".repeat(width) + "\r");
                terminal.err().flush();
                width = 0;
            }
        }
    }
}
