package dev.fenceline.examples.springboot;

import org.springframework.stereotype.Service;
import org.springframework.transaction.annotation.Transactional;

/** Transfers: one transaction over two accounts, under the locks of both. */
@Service
class TransferService {

    private final Accounts accounts;
    private final Clearing clearing;

    TransferService(Accounts accounts, Clearing clearing) {
        this.accounts = accounts;
        this.clearing = clearing;
    }

    // snippet: spring-transfer
    @Fenced(
            value = "account",
            key = {"#from", "#to"}) // both are held, and claimed before the first read
    @Transactional
    long transfer(long from, long to, long cents) {
        Account source = accounts.findById(from).orElseThrow();
        Account target = accounts.findById(to).orElseThrow();
        clearing.confirm(from, cents);
        target.deposit(cents);
        return source.withdraw(cents);
    }
    // end snippet
}
