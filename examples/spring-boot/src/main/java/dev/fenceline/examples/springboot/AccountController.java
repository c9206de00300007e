package dev.fenceline.examples.springboot;

import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.RestController;

/** The service over HTTP; each answer is the balance that is left. */
@RestController
@RequestMapping("/accounts/{id}")
class AccountController {

    private final WithdrawalService withdrawals;
    private final TransferService transfers;
    private final FeeService fees;

    AccountController(WithdrawalService withdrawals, TransferService transfers, FeeService fees) {
        this.withdrawals = withdrawals;
        this.transfers = transfers;
        this.fees = fees;
    }

    @PostMapping("/withdrawals")
    long withdraw(@PathVariable long id, @RequestParam long cents) {
        return withdrawals.withdraw(id, cents);
    }

    @PostMapping("/transfers")
    long transfer(@PathVariable long id, @RequestParam long to, @RequestParam long cents) {
        return transfers.transfer(id, to, cents);
    }

    @PostMapping("/fees")
    long charge(@PathVariable long id) {
        return fees.charge(id);
    }
}
