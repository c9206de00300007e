package dev.fenceline.jdbc.repository;

import java.util.List;
import org.jdbi.v3.core.Handle;

/** Over a handle of Jdbi, with transactions of its own. */
final class HandleAccounts implements Accounts {

    private final Handle handle;

    HandleAccounts(Handle handle) {
        this.handle = handle;
    }

    @Override
    public Account find(int id) {
        return handle.createQuery("SELECT id, balance FROM account WHERE id = :id")
                .bind("id", id)
                .mapTo(Account.class)
                .one();
    }

    @Override
    public List<Account> findAll() {
        return handle.createQuery("SELECT id, balance FROM account ORDER BY id")
                .mapTo(Account.class)
                .list();
    }

    @Override
    public Account save(Account account) {
        save(account.id(), account.balance());
        return account;
    }

    @Override
    public void save(int id, long balance) {
        handle.execute("UPDATE account SET balance = ? WHERE id = ?", balance, id);
    }

    @Override
    public void saveAll(List<? extends Account> accounts) {
        handle.useTransaction(same -> accounts.forEach(this::save));
    }

    @Override
    public void setAll(long balance, Account... accounts) {
        for (Account account : accounts) {
            save(account.id(), balance);
        }
    }

    @Override
    public void deleteById(Integer id) {
        save(id, 0);
    }

    @Override
    public long withdraw(int id, long amount) throws Overdrawn {
        return handle.inTransaction(same -> {
            Account account = find(id);
            if (account.balance() < amount) {
                throw new Overdrawn(account.balance());
            }
            return save(account.plus(-amount)).balance();
        });
    }

    @Override
    public void close(int id) {
        this.save(this.find(id).plus(-this.find(id).balance()));
    }

    @Override
    public void block(int id) {
        save(id, -1);
    }

    @Override
    public void transfer(int from, int to, long amount) throws Overdrawn {
        handle.begin();
        this.save(find(from).plus(-amount));
        this.save(find(to).plus(amount));
        handle.commit();
    }

    @Override
    public void fail(int id, Throwable thrown) throws Exception {
        handle.useTransaction(same -> {
            save(id, 0);
            throw Thrown.unchanged(thrown);
        });
    }
}
