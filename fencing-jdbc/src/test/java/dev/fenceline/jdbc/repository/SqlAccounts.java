package dev.fenceline.jdbc.repository;

import java.util.List;
import org.jdbi.v3.sqlobject.SqlObject;
import org.jdbi.v3.sqlobject.statement.SqlQuery;
import org.jdbi.v3.sqlobject.statement.SqlUpdate;
import org.jdbi.v3.sqlobject.transaction.Transaction;

/** Of Jdbi's SqlObject, which makes the class itself. */
interface SqlAccounts extends Accounts, SqlObject {

    @Override
    @SqlQuery("SELECT id, balance FROM account WHERE id = :id")
    @Transaction(readOnly = true)
    Account find(int id);

    @Override
    @SqlQuery("SELECT id, balance FROM account ORDER BY id")
    List<Account> findAll();

    @Override
    @SqlUpdate("UPDATE account SET balance = :balance WHERE id = :id")
    void save(int id, long balance);

    @Override
    default Account save(Account account) {
        save(account.id(), account.balance());
        return account;
    }

    @Override
    @Transaction
    default void saveAll(List<? extends Account> accounts) {
        accounts.forEach(this::save);
    }

    @Override
    @Transaction
    default void setAll(long balance, Account... accounts) {
        for (Account account : accounts) {
            save(account.id(), balance);
        }
    }

    @Override
    default void deleteById(Integer id) {
        save(id, 0);
    }

    @Override
    @Transaction
    default long withdraw(int id, long amount) throws Overdrawn {
        Account account = find(id);
        if (account.balance() < amount) {
            throw new Overdrawn(account.balance());
        }
        return save(account.plus(-amount)).balance();
    }

    @Override
    default void close(int id) {
        this.save(this.find(id).plus(-this.find(id).balance()));
    }

    @Override
    @SqlUpdate("UPDATE account SET balance = -1 WHERE id = :id")
    void block(int id);

    @Override
    default void transfer(int from, int to, long amount) throws Overdrawn {
        getHandle().begin();
        this.save(find(from).plus(-amount));
        this.save(find(to).plus(amount));
        getHandle().commit();
    }

    @Override
    @Transaction
    default void fail(int id, Throwable thrown) throws Exception {
        save(id, 0);
        throw Thrown.unchanged(thrown);
    }
}
