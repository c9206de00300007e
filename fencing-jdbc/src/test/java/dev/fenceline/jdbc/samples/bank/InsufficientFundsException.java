package dev.fenceline.jdbc.samples.bank;

public class InsufficientFundsException extends Exception {

    private static final long serialVersionUID = 1L;

    public InsufficientFundsException(Account account, long amount) {
        super("Account " + account.id() + " has " + account.balance() + ", not " + amount);
    }
}
