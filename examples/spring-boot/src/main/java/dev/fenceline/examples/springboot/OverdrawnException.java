package dev.fenceline.examples.springboot;

/** There is less on the account than was to be withdrawn. */
class OverdrawnException extends RuntimeException {

    private static final long serialVersionUID = 1L;

    OverdrawnException(long account, long balanceCents, long cents) {
        super("Account " + account + " holds " + balanceCents + " cents, which is less than " + cents + ".");
    }
}
