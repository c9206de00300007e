package dev.fenceline.s3;

import java.util.function.Consumer;

/**
 * Takes a user's checked exception through code that declares none, and out again as it was.
 *
 * @param <X> what the user's code may throw
 */
final class Thrown<X extends Exception> {

    /** The user's code. */
    @FunctionalInterface
    interface Call<T, X extends Exception> {
        T run() throws X;
    }

    private static final class Carried extends RuntimeException {

        private static final long serialVersionUID = 1L;

        private final transient Thrown<?> by;

        Carried(Thrown<?> by, Exception cause) {
            super(null, cause, false, false);
            this.by = by;
        }
    }

    private Thrown() {}

    /** Runs code that calls the user's through {@link #call}. */
    static <X extends Exception> void carrying(Consumer<Thrown<X>> code) throws X {
        Thrown<X> carrier = new Thrown<>();
        try {
            code.accept(carrier);
        } catch (Carried e) {
            if (e.by != carrier) {
                throw e;
            }
            @SuppressWarnings("unchecked") // call() has put nothing else there
            X thrown = (X) e.getCause();
            throw thrown;
        }
    }

    <T> T call(Call<T, X> code) {
        try {
            return code.run();
        } catch (RuntimeException e) {
            throw e;
        } catch (Exception e) {
            throw new Carried(this, e);
        }
    }
}
