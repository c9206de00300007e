package dev.fenceline.verification.frameworks;

import static org.jooq.impl.DSL.field;
import static org.jooq.impl.DSL.table;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.function.Supplier;
import javax.sql.DataSource;
import org.jooq.DSLContext;
import org.jooq.Field;
import org.jooq.Record;
import org.jooq.SQLDialect;
import org.jooq.Table;
import org.jooq.impl.DSL;

/** jOOQ with the transactions of its own DSLContext. */
final class JooqDsl implements Framework {

    private static final Table<Record> ACCOUNT = table("account");
    private static final Field<Integer> ID = field("id", Integer.class);
    private static final Field<Long> BALANCE = field("balance", Long.class);

    /** The transactions of this thread, the innermost first. */
    private static final ThreadLocal<Deque<DSLContext>> OPEN = ThreadLocal.withInitial(ArrayDeque::new);

    private final DSLContext root;

    JooqDsl(DataSource source) {
        this.root = DSL.using(source, SQLDialect.POSTGRES);
    }

    /** A transaction inside of another is a savepoint. */
    @Override
    public <T> T transaction(Supplier<T> work) {
        return dsl().transactionResult(configuration -> {
            OPEN.get().push(configuration.dsl());
            try {
                return work.get();
            } finally {
                OPEN.get().pop();
            }
        });
    }

    DSLContext dsl() {
        DSLContext innermost = OPEN.get().peek();
        return innermost == null ? root : innermost;
    }

    @Override
    public long read(int account) {
        return dsl().select(BALANCE).from(ACCOUNT).where(ID.eq(account)).fetchSingle(BALANCE);
    }

    @Override
    public void write(int account, long balance) {
        dsl().update(ACCOUNT).set(BALANCE, balance).where(ID.eq(account)).execute();
    }

    @Override
    public void fail() {
        dsl().fetch("SELECT 1 / 0");
    }

    @Override
    public void close() {}
}
