package dev.fenceline.jdbc.repository;

import java.util.List;

/** A repository as they are written everywhere, by somebody who had no lock in mind. */
interface Accounts extends Crud<Account, Integer> {

    static Account fresh(int id) {
        return new Account(id, 0);
    }

    Account find(int id);

    List<Account> findAll();

    @Override
    Account save(Account account);

    void save(int id, long balance);

    void setAll(long balance, Account... accounts);

    /** Reads, computes and writes by itself. */
    long withdraw(int id, long amount) throws Overdrawn;

    /** Likewise, through other methods of its own. */
    void close(int id);

    /** Writes without having read. */
    void block(int id);

    /** Of two accounts. */
    void transfer(int from, int to, long amount) throws Overdrawn;

    /** Fails after it has written, each time anew. */
    void fail(int id, Throwable thrown) throws Exception;

    default void add(int id, long amount) {
        save(changed(find(id), amount));
    }

    private Account changed(Account account, long amount) {
        return account.plus(amount);
    }
}
