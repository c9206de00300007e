package dev.fenceline.s3;

/**
 * Keeps an interruption for the end of what has to be brought to its end. The client refuses each request of an interrupted thread, so a
 * write could neither go on nor find out what became of it.
 *
 * <p><b>Thread-safety:</b> for the thread that has made it.
 */
final class Interruption implements AutoCloseable {

    private boolean happened;

    /** Takes the flag. */
    Interruption() {
        note();
    }

    /** Takes the flag again, if somebody has set it meanwhile. */
    void note() {
        happened |= Thread.interrupted();
    }

    /** Gives it back. */
    @Override
    public void close() {
        if (happened) {
            Thread.currentThread().interrupt();
        }
    }
}
