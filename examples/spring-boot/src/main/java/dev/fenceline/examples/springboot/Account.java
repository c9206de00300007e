package dev.fenceline.examples.springboot;

import jakarta.persistence.Column;
import jakarta.persistence.Entity;
import jakarta.persistence.Id;

/** A row of the table {@code account}. It knows nothing of locks or tokens, and needs no {@code @Version} for them. */
@Entity
class Account {

    @Id
    private long id;

    @Column(name = "balance_cents")
    private long balanceCents;

    /** For JPA. */
    protected Account() {}

    /** Takes money and returns what is left. */
    long withdraw(long cents) {
        if (cents > balanceCents) {
            throw new OverdrawnException(id, balanceCents, cents);
        }
        balanceCents -= cents;
        return balanceCents;
    }

    /** Brings money. */
    void deposit(long cents) {
        balanceCents = Math.addExact(balanceCents, cents);
    }
}
