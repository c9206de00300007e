package dev.fenceline.examples.springboot;

import dev.fenceline.LockName;
import dev.fenceline.Locks;
import java.time.Duration;
import org.springframework.transaction.support.TransactionTemplate;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.RestController;

/** What the service would be without the annotation: the same withdrawal in a transaction alone, and one under the lock but not fenced; and a transfer under one of its two locks. */
@RestController
@RequestMapping("/naive/{id}")
class NaiveWithdrawals {

    private final Accounts accounts;
    private final Clearing clearing;
    private final TransactionTemplate transactions;
    private final Locks locks;

    NaiveWithdrawals(Accounts accounts, Clearing clearing, TransactionTemplate transactions, Locks locks) {
        this.accounts = accounts;
        this.clearing = clearing;
        this.transactions = transactions;
        this.locks = locks;
    }

    @PostMapping("/transaction")
    long inTransaction(@PathVariable long id, @RequestParam long cents) {
        return transactions.execute(status -> {
            Account account = accounts.findById(id).orElseThrow();
            clearing.confirm(id, cents);
            return account.withdraw(cents);
        });
    }

    /** Fenced by the account that pays, and not by the one that is paid. */
    @PostMapping("/transfer")
    @Fenced(value = "account", key = "#id")
    long transferUnderOneOfTwoLocks(@PathVariable long id, @RequestParam long to, @RequestParam long cents) {
        return transactions.execute(status -> {
            Account source = accounts.findById(id).orElseThrow();
            Account target = accounts.findById(to).orElseThrow();
            clearing.confirm(id, cents);
            target.deposit(cents);
            return source.withdraw(cents);
        });
    }

    @PostMapping("/lock")
    long underLock(@PathVariable long id, @RequestParam long cents) throws InterruptedException {
        return locks.fenced(LockName.of("account", id))
                .callWithin(Duration.ofSeconds(20), lease -> inTransaction(id, cents));
    }
}
