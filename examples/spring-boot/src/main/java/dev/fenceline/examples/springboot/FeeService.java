package dev.fenceline.examples.springboot;

import static java.util.Objects.requireNonNull;

import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.stereotype.Service;

/** Fees through JdbcTemplate: two transactions under one claim, so that none is open while the clearing thinks. */
@Service
class FeeService {

    private final JdbcTemplate jdbc;
    private final Clearing clearing;

    FeeService(JdbcTemplate jdbc, Clearing clearing) {
        this.jdbc = jdbc;
        this.clearing = clearing;
    }

    // snippet: spring-two-transactions
    @Fenced(value = "account", key = "#id")
    long charge(long id) {
        long balance =
                requireNonNull(jdbc.queryForObject("SELECT balance_cents FROM account WHERE id = ?", Long.class, id));
        long fee = balance / 1_000;
        clearing.confirm(id, fee); // no transaction is open meanwhile
        jdbc.update("UPDATE account SET balance_cents = ? WHERE id = ?", balance - fee, id); // under the same claim
        return balance - fee;
    }
    // end snippet
}
