package dev.fenceline.bench;

/** The end of a program of ours: with the threads that clients of others leave behind, and not without them. */
final class Exits {

    private Exits() {}

    /** What a program does. */
    @FunctionalInterface
    interface Program {
        void run() throws Exception;
    }

    /** Runs it, and ends this JVM; with 1 and a stack trace when it fails, so that whoever waits for its output is not left. */
    static void after(Program program) {
        int code = 1;
        try {
            program.run();
            code = 0;
        } catch (Exception | Error e) {
            // As if it had ended the thread; but then those others would keep the JVM alive.
            Thread thread = Thread.currentThread();
            thread.getUncaughtExceptionHandler().uncaughtException(thread, e);
        } finally {
            System.out.flush();
            System.exit(code);
        }
    }
}
