package dev.fenceline.jdbc;

import dev.fenceline.FencingToken;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;

/** What most tests begin with: a database of the class's own, an account, and two grants of one lock, one after the other. */
abstract class TwoGrants {

    static TestDatabase database;

    FencingToken older;
    FencingToken newer;

    @BeforeAll
    static void create() {
        database = TestDatabase.create();
    }

    @BeforeEach
    void grant() {
        var lock = Grants.freshLock();
        older = Grants.next(lock);
        newer = Grants.next(lock);
        database.account(1, 100);
    }

    /** The newer grant claims in another process, as far as anybody here can tell: by a data source of its own. */
    void overtake() {
        PostgresFence.on(database.sourceNamed("another-process")).claim(newer);
    }
}
