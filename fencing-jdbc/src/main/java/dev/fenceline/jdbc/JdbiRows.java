package dev.fenceline.jdbc;

import dev.fenceline.FencedLease;
import dev.fenceline.FencelineListener;
import dev.fenceline.FencingToken;
import dev.fenceline.LockName;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.function.Function;
import org.jdbi.v3.core.Handle;
import org.jdbi.v3.core.Jdbi;
import org.jdbi.v3.core.mapper.RowMapper;
import org.jdbi.v3.core.result.ResultIterable;
import org.jdbi.v3.core.statement.Query;
import org.jspecify.annotations.Nullable;

/**
 * The fence in the rows of one table, for Jdbi: what {@link PostgresRows} promises, with values that Jdbi binds and rows that it maps.
 * Make one per table and Jdbi, and keep it.
 *
 * <pre>{@code
 * FencedTable<Long> table = FencedTable.of("bank", "account").key("id", id -> LockName.of("account", id));
 * JdbiRows<Long> accounts = JdbiRows.on(jdbi, table);
 *
 * try (FencedLease lease = locks.fenced(accounts.lock(42L)).acquire()) {
 *     JdbiRowClaim<Account> claim = accounts.claim(lease, 42L, Account.class);
 *     Account changed = claim.row().orElseThrow().withdraw(10);
 *     claim.update(JdbiRowValues.bound(q -> q.bindMethods(changed)).set("balance", ":balance"));
 * }
 * }</pre>
 *
 * <p><b>Thread-safety:</b> immutable; the methods that set something return a copy.
 *
 * @param <K> the key of a row
 */
public final class JdbiRows<K> {

    private final RowEngine<Handle> engine;
    private final FencedTable<K> table;

    private JdbiRows(RowEngine<Handle> engine, FencedTable<K> table) {
        this.engine = engine;
        this.table = table;
    }

    /**
     * Chooses a table in a database. Nothing is sent yet; what must be installed and granted stands at {@link PostgresRows#on}.
     *
     * @param jdbi opens connections of the PostgreSQL driver to the primary, outside of any surrounding transaction
     * @param table what is protected
     * @param <K> the key of a row
     * @return the rows, with the defaults
     * @throws IllegalArgumentException when a name begins or ends with a double quote, or holds two in a row: Jdbi's parser does not read
     *     such names
     */
    public static <K> JdbiRows<K> on(Jdbi jdbi, FencedTable<K> table) {
        table.names().forEach(JdbiRowValues::readable);
        return new JdbiRows<>(RowEngine.of(JdbiFence.on(jdbi).source(), new JdbiRunner(), table), table);
    }

    /**
     * Limits how long a claim, or a blind write, waits for a transaction that holds the row. Without it, what is left of the lease, or
     * 10 s for a token without one.
     *
     * @param timeout from 1 ms to 1 h
     * @return a copy with this limit
     * @throws IllegalArgumentException when it is out of range
     */
    public JdbiRows<K> claimTimeout(Duration timeout) {
        return new JdbiRows<>(engine.with(engine.settings().withClaimTimeout(timeout)), table);
    }

    /**
     * Sets who hears of claims, writes and refusals, in place of the listener that logs.
     *
     * @param listener hears of everything; see {@link FencelineListener#and} to keep the log
     * @return a copy with this listener
     */
    public JdbiRows<K> listener(FencelineListener listener) {
        return new JdbiRows<>(
                engine.with(engine.settings().withListener(Objects.requireNonNull(listener, "listener"))), table);
    }

    /**
     * Has each write record itself, so that a lost answer is settled; see {@link PostgresRows#recorded}.
     *
     * @return a copy that records
     */
    public JdbiRows<K> recorded() {
        return new JdbiRows<>(engine.recording(), table);
    }

    /**
     * Names the lock of a row: what to acquire before the row is claimed.
     *
     * @param key the row's key
     * @return the lock
     */
    public LockName lock(K key) {
        return table.lock(key);
    }

    /**
     * Raises the mark of a row to the token of a lease, and reads the row. Guarantees, blocking and errors are those of
     * {@link PostgresRows#claim(FencedLease, Object, RowReader)}.
     *
     * @param lease a lease of the row's lock, still held
     * @param key the row's key
     * @param mapper maps the row
     * @param <R> what is made of the row
     * @return the right to write the row, with what was read
     */
    public <R> JdbiRowClaim<R> claim(FencedLease lease, K key, RowMapper<R> mapper) {
        return claim(lease.token(), lease, key, mapping(mapper));
    }

    /**
     * Raises the mark of a row and reads the row with the mapper that is registered for a type.
     *
     * @param lease a lease of the row's lock, still held
     * @param key the row's key
     * @param type what the row is mapped to
     * @param <R> what is made of the row
     * @return the right to write the row, with what was read
     */
    public <R> JdbiRowClaim<R> claim(FencedLease lease, K key, Class<R> type) {
        return claim(lease.token(), lease, key, mapping(type));
    }

    /**
     * Raises the mark of a row to a token that came from elsewhere, and reads the row.
     *
     * @param token of a lease that somebody else keeps
     * @param key the row's key; the token must be one of its lock
     * @param mapper maps the row
     * @param <R> what is made of the row
     * @return the right to write the row, with what was read
     */
    public <R> JdbiRowClaim<R> claim(FencingToken token, K key, RowMapper<R> mapper) {
        return claim(token, null, key, mapping(mapper));
    }

    /**
     * Raises the mark of a row to a token that came from elsewhere, and reads the row with the mapper that is registered for a type.
     *
     * @param token of a lease that somebody else keeps
     * @param key the row's key; the token must be one of its lock
     * @param type what the row is mapped to
     * @param <R> what is made of the row
     * @return the right to write the row, with what was read
     */
    public <R> JdbiRowClaim<R> claim(FencingToken token, K key, Class<R> type) {
        return claim(token, null, key, mapping(type));
    }

    /**
     * Goes on under a claim that was made earlier; see {@link PostgresRows#resume}.
     *
     * @param token the token that the row was claimed with
     * @param key the row's key; the token must be one of its lock
     * @param mapper maps the row
     * @param <R> what is made of the row
     * @return the right to write the row, if nobody has taken over in the meantime
     */
    public <R> JdbiRowClaim<R> resume(FencingToken token, K key, RowMapper<R> mapper) {
        return resumed(token, key, mapping(mapper));
    }

    /**
     * Goes on under a claim that was made earlier, with the mapper that is registered for a type; see {@link PostgresRows#resume}.
     *
     * @param token the token that the row was claimed with
     * @param key the row's key; the token must be one of its lock
     * @param type what the row is mapped to
     * @param <R> what is made of the row
     * @return the right to write the row, if nobody has taken over in the meantime
     */
    public <R> JdbiRowClaim<R> resume(FencingToken token, K key, Class<R> type) {
        return resumed(token, key, mapping(type));
    }

    /**
     * Writes a row that nobody has read; see {@link PostgresRows#blind(FencedLease, Object)} for what that does not prevent.
     *
     * @param lease a lease of the row's lock; each write requires that it is held
     * @param key the row's key
     * @return single writes; nothing is sent yet
     */
    public JdbiBlindRow blind(FencedLease lease, K key) {
        return new JdbiBlindRow(writer(lease.token(), lease, key, Admission.RAISING));
    }

    /**
     * Writes a row that nobody has read, under a token that came from elsewhere.
     *
     * @param token of a lease that somebody else keeps
     * @param key the row's key; the token must be one of its lock
     * @return single writes; nothing is sent yet
     */
    public JdbiBlindRow blind(FencingToken token, K key) {
        return new JdbiBlindRow(writer(token, null, key, Admission.RAISING));
    }

    /**
     * Writes many claimed rows in one statement and one round trip: all of them, or none; see {@link PostgresRows#updateAll}. The values
     * are sent as arrays by the driver.
     *
     * @param changes claims of this table, and what to set; all set the same columns, to values and not to expressions
     */
    public void updateAll(Map<JdbiRowClaim<?>, RowValues> changes) {
        Map<RowWriter<Handle>, RowValues> writers = new LinkedHashMap<>();
        changes.forEach((claim, values) -> writers.put(claim.writer(), values));
        try {
            RowBatch.send(engine, writers);
        } catch (StatementFailed failed) {
            throw failed.unchecked();
        }
    }

    private <R> JdbiRowClaim<R> claim(
            FencingToken token, @Nullable FencedLease lease, K key, Function<Query, ResultIterable<R>> mapping) {
        RowWriter<Handle> writer = writer(token, lease, key, Admission.EQUAL);
        RowRunner.Reading<Handle, R> reading = reading(writer.target(), mapping);
        try {
            Optional<R> row = new RowClaimStep<>(engine, writer.session(), reading).run();
            return new JdbiRowClaim<>(writer, row, reading);
        } catch (StatementFailed failed) {
            throw failed.unchecked();
        }
    }

    private <R> JdbiRowClaim<R> resumed(FencingToken token, K key, Function<Query, ResultIterable<R>> mapping) {
        RowWriter<Handle> writer = writer(token, null, key, Admission.EQUAL);
        RowRunner.Reading<Handle, R> reading = reading(writer.target(), mapping);
        try {
            return new JdbiRowClaim<>(writer, writer.read(reading), reading);
        } catch (StatementFailed failed) {
            throw failed.unchecked();
        }
    }

    private RowWriter<Handle> writer(FencingToken token, @Nullable FencedLease lease, K key, Admission admission) {
        RowTarget target = RowTarget.of(table, key, token);
        return new RowAutoCommit<>(
                engine,
                new RowSession(target, admission, lease, engine.settings().listener()));
    }

    private static <R> Function<Query, ResultIterable<R>> mapping(RowMapper<R> mapper) {
        Objects.requireNonNull(mapper, "mapper");
        return query -> query.map(mapper);
    }

    private static <R> Function<Query, ResultIterable<R>> mapping(Class<R> type) {
        Objects.requireNonNull(type, "type");
        return query -> query.mapTo(type);
    }

    private static <R> RowRunner.Reading<Handle, R> reading(
            RowTarget target, Function<Query, ResultIterable<R>> mapping) {
        return (handle, statement) -> JdbiRunner.read(handle, statement, target, mapping);
    }
}
