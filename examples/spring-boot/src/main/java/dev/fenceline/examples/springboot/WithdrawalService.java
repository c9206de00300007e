package dev.fenceline.examples.springboot;

import org.springframework.stereotype.Service;
import org.springframework.transaction.annotation.Transactional;

/** Withdrawals through JPA, each in one transaction. */
@Service
class WithdrawalService {

    private final Accounts accounts;
    private final Clearing clearing;

    WithdrawalService(Accounts accounts, Clearing clearing) {
        this.accounts = accounts;
        this.clearing = clearing;
    }

    // snippet: spring-service
    @Fenced(value = "account", key = "#id")
    @Transactional
    long withdraw(long id, long cents) {
        Account account = accounts.findById(id).orElseThrow();
        clearing.confirm(id, cents);
        return account.withdraw(cents); // written at the commit, which is refused if a newer holder has claimed
    }
    // end snippet
}
