package dev.fenceline.jdbc.repository;

/** Lets exceptions of the user through code that cannot declare them. */
final class Thrown {

    private Thrown() {}

    /**
     * Throws an exception as it is, checked or not.
     *
     * @return never; it is there for the compiler, which sees that the path ends
     */
    static RuntimeException unchanged(Throwable thrown) {
        return Thrown.<RuntimeException>raise(thrown);
    }

    @SuppressWarnings("unchecked")
    private static <X extends Throwable> RuntimeException raise(Throwable thrown) throws X {
        throw (X) thrown;
    }
}
