package dev.fenceline.bench;

/**
 * One hold of a contended lock, by the monotonic clock of the machine. {@code System.nanoTime} reads CLOCK_MONOTONIC on Linux,
 * which all processes of one machine share, so holds of several JVMs can be laid on one time line.
 *
 * @param asked before the call that waits
 * @param acquired after it returned
 * @param releasing before the release was begun
 * @param thread a number that no other thread of the run has
 */
record Hold(long asked, long acquired, long releasing, int thread) {

    long waited() {
        return acquired - asked;
    }

    /** As one line for another process. */
    String encode() {
        return asked + " " + acquired + " " + releasing + " " + thread;
    }

    static Hold parse(String line) {
        String[] numbers = line.split(" ", -1);
        if (numbers.length != 4) {
            throw new IllegalArgumentException("Not a hold: '" + line + "'.");
        }
        return new Hold(
                Long.parseLong(numbers[0]),
                Long.parseLong(numbers[1]),
                Long.parseLong(numbers[2]),
                Integer.parseInt(numbers[3]));
    }
}
