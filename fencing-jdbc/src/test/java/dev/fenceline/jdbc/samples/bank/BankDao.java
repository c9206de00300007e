package dev.fenceline.jdbc.samples.bank;

import java.util.List;
import org.jdbi.v3.sqlobject.config.RegisterConstructorMapper;
import org.jdbi.v3.sqlobject.customizer.Bind;
import org.jdbi.v3.sqlobject.customizer.BindMethods;
import org.jdbi.v3.sqlobject.statement.SqlQuery;
import org.jdbi.v3.sqlobject.statement.SqlUpdate;
import org.jdbi.v3.sqlobject.transaction.Transaction;

/** Accounts, and transfers between them. */
@RegisterConstructorMapper(Account.class)
public interface BankDao {

    @SqlQuery("SELECT id, owner, balance FROM bank_account WHERE id = :id")
    Account findAccount(@Bind("id") long id);

    @SqlQuery("SELECT id, owner, balance FROM bank_account ORDER BY id")
    List<Account> listAccounts();

    @SqlUpdate("UPDATE bank_account SET owner = :owner, balance = :balance WHERE id = :id")
    void update(@BindMethods Account account);

    @SqlUpdate("INSERT INTO booking (debtor, creditor, amount) VALUES (:from, :to, :amount)")
    void book(@Bind("from") long from, @Bind("to") long to, @Bind("amount") long amount);

    @Transaction
    default void transfer(long from, long to, long amount) throws InsufficientFundsException {
        Account debtor = findAccount(from);
        Account creditor = findAccount(to);
        if (debtor.balance() < amount) {
            throw new InsufficientFundsException(debtor, amount);
        }
        update(debtor.withBalance(debtor.balance() - amount));
        update(creditor.withBalance(creditor.balance() + amount));
        book(from, to, amount);
    }
}
