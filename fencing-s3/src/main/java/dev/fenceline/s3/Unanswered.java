package dev.fenceline.s3;

/** A question was not answered: no connection, no time, or a fault of the store. Asking again is fine. */
final class Unanswered extends Exception {

    private static final long serialVersionUID = 1L;

    private final RuntimeException failure;

    Unanswered(RuntimeException failure) {
        super(failure);
        this.failure = failure;
    }

    RuntimeException failure() {
        return failure;
    }
}
