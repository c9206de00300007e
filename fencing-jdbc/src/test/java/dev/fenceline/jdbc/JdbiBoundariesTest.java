package dev.fenceline.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.fenceline.FencelineListener;
import dev.fenceline.RetryableConflictException;
import dev.fenceline.TransactionRolledBackException;
import dev.fenceline.UnfencedWriteException;
import java.sql.SQLException;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.jdbi.v3.core.Handle;
import org.jdbi.v3.core.Jdbi;
import org.jdbi.v3.core.statement.UnableToExecuteStatementException;
import org.jdbi.v3.core.transaction.LocalTransactionHandler;
import org.jdbi.v3.core.transaction.TransactionException;
import org.jdbi.v3.core.transaction.TransactionIsolationLevel;
import org.jdbi.v3.core.transaction.UnableToManipulateTransactionIsolationLevelException;
import org.jdbi.v3.sqlobject.SqlObject;
import org.jdbi.v3.sqlobject.SqlObjectPlugin;
import org.jdbi.v3.sqlobject.statement.SqlQuery;
import org.jdbi.v3.sqlobject.statement.SqlUpdate;
import org.jdbi.v3.sqlobject.transaction.Transaction;
import org.jdbi.v3.sqlobject.transaction.Transactional;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Semantics 2 of the wrapper, for code that has a handle: its transactions are part of the unit's one. */
@Tag("server")
class JdbiBoundariesTest extends TwoGrants {

    private static final String WRITE = "UPDATE account SET balance = ? WHERE id = 1";

    Jdbi jdbi;
    Claim<Handle> claim;

    @BeforeEach
    void fence() {
        jdbi = Jdbi.create(database.source()).installPlugin(new SqlObjectPlugin());
        claim = JdbiFence.on(jdbi).listener(FencelineListener.none()).claim(older);
    }

    /** Code that was written for a transaction of its own. */
    interface Accounts extends Transactional<Accounts>, SqlObject {

        @SqlUpdate("UPDATE account SET balance = :balance WHERE id = 1")
        void write(long balance);

        @SqlQuery("SELECT balance FROM account WHERE id = 1")
        @Transaction(readOnly = true)
        long read();

        @Transaction
        default void writeAndFail(long balance) {
            write(balance);
            throw new IllegalStateException("of the user");
        }

        @Transaction
        default void add(long amount) {
            write(read() + amount);
        }
    }

    private record Form(String name, Consumer<Handle> work) {
        @Override
        public String toString() {
            return name;
        }
    }

    static Stream<Form> committingForms() {
        return Stream.of(
                new Form("begin and commit", handle -> {
                    handle.begin();
                    handle.execute(WRITE, 90);
                    handle.commit();
                }),
                new Form("begin in begin", handle -> {
                    handle.begin();
                    handle.begin();
                    handle.execute(WRITE, 90);
                    handle.commit();
                    handle.commit();
                }),
                new Form("commit without begin", handle -> {
                    handle.execute(WRITE, 90);
                    handle.commit();
                }),
                new Form("inTransaction", handle -> handle.useTransaction(h -> h.execute(WRITE, 90))),
                new Form(
                        "inTransaction in inTransaction",
                        handle -> handle.useTransaction(h -> h.useTransaction(deep -> deep.execute(WRITE, 90)))),
                new Form(
                        "begin that the end of inTransaction commits",
                        handle -> handle.useTransaction(h -> {
                            h.begin();
                            h.execute(WRITE, 90);
                        })),
                new Form(
                        "at the level that it has",
                        handle -> handle.useTransaction(TransactionIsolationLevel.READ_COMMITTED, h -> {
                            h.execute(WRITE, 90);
                        })),
                new Form(
                        "at a higher level, as the first",
                        handle -> handle.useTransaction(TransactionIsolationLevel.SERIALIZABLE, h -> {
                            h.execute(WRITE, 90);
                            assertThat(h.getTransactionIsolationLevel())
                                    .isEqualTo(TransactionIsolationLevel.SERIALIZABLE);
                        })),
                new Form("@Transaction, reading and writing", handle -> {
                    Accounts accounts = handle.attach(Accounts.class);
                    assertThat(accounts.read()).isEqualTo(100);
                    accounts.add(-10);
                }),
                new Form("Transactional", handle -> {
                    Accounts accounts = handle.attach(Accounts.class);
                    accounts.begin();
                    accounts.write(90);
                    accounts.commit();
                    accounts.useTransaction(same -> assertThat(same.read()).isEqualTo(90));
                }));
    }

    @ParameterizedTest
    @MethodSource("committingForms")
    void anInnerTransactionCommitsWithTheUnitAndNotBefore(Form form) {
        claim.inTransaction(new InnerTransactions(), handle -> {
            form.work().accept(handle);
            assertThat(handle.isInTransaction()).isTrue();
            assertThat(database.balance(1)).as("not committed yet").isEqualTo(100);
            return true;
        });

        assertThat(database.balance(1)).isEqualTo(90);
    }

    static Stream<Form> undoingForms() {
        return Stream.of(
                new Form("rollback", handle -> {
                    handle.begin();
                    handle.execute(WRITE, 0);
                    handle.rollback();
                }),
                new Form("rollback without begin", handle -> {
                    handle.execute(WRITE, 0);
                    handle.rollback();
                }),
                new Form("Transactional", handle -> {
                    Accounts accounts = handle.attach(Accounts.class);
                    accounts.begin();
                    accounts.write(0);
                    accounts.rollback();
                }),
                new Form(
                        "rollback within inTransaction",
                        handle -> handle.useTransaction(h -> {
                            h.execute(WRITE, 0);
                            h.rollback();
                        })));
    }

    @ParameterizedTest
    @MethodSource("undoingForms")
    void anInnerRollbackUndoesTheUnit(Form form) {
        assertThatThrownBy(() -> claim.inTransaction(new InnerTransactions(), handle -> {
                    form.work().accept(handle);
                    handle.execute("UPDATE account SET balance = 5 WHERE id = 1");
                    return true;
                }))
                .isInstanceOf(TransactionRolledBackException.class)
                .hasMessage("Unit on PostgreSQL guard '" + older.lock() + "' under token " + older
                        + " rolled back: an inner transaction was rolled back, and a unit is one transaction. Nothing of"
                        + " it happened. Let what went wrong leave the unit, or set a savepoint before it and roll back to"
                        + " that.");
        assertThat(database.balance(1)).isEqualTo(100);
    }

    static Stream<Form> failingForms() {
        return Stream.of(
                new Form(
                        "inTransaction",
                        handle -> handle.useTransaction(h -> {
                            h.execute(WRITE, 0);
                            throw new IllegalStateException("of the user");
                        })),
                new Form(
                        "at a level",
                        handle -> handle.useTransaction(TransactionIsolationLevel.READ_COMMITTED, h -> {
                            h.execute(WRITE, 0);
                            throw new IllegalStateException("of the user");
                        })),
                new Form("@Transaction", handle -> handle.attach(Accounts.class).writeAndFail(0)),
                new Form(
                        "the inner of two",
                        handle -> handle.useTransaction(h -> {
                            h.execute(WRITE, 0);
                            try {
                                h.useTransaction(deep -> {
                                    throw new IllegalStateException("of the user");
                                });
                            } catch (IllegalStateException swallowed) {
                                throw new IllegalStateException(swallowed.getMessage());
                            }
                        })));
    }

    @ParameterizedTest
    @MethodSource("failingForms")
    void anExceptionThatLeavesAnInnerTransactionUndoesTheUnitEvenIfItIsSwallowed(Form form) {
        assertThatThrownBy(() -> claim.inTransaction(new InnerTransactions(), handle -> {
                    assertThatThrownBy(() -> form.work().accept(handle))
                            .isInstanceOf(IllegalStateException.class)
                            .hasMessage("of the user");
                    handle.execute("UPDATE account SET balance = 5 WHERE id = 1");
                    return true;
                }))
                .isInstanceOf(TransactionRolledBackException.class)
                .hasMessageContaining("rolled back: an exception left an inner transaction"
                        + " (java.lang.IllegalStateException: of the user), and a unit is one transaction.")
                .cause()
                .isInstanceOf(IllegalStateException.class)
                .hasMessage("of the user");
        assertThat(database.balance(1)).isEqualTo(100);
    }

    @Test
    void anInnerTransactionThatNobodyCommitsUndoesTheUnit() {
        assertThatThrownBy(() -> claim.inTransaction(new InnerTransactions(), handle -> {
                    handle.begin();
                    return handle.execute(WRITE, 0);
                }))
                .isInstanceOf(TransactionRolledBackException.class)
                .hasMessageContaining("rolled back: an inner transaction was begun and never committed");
        assertThat(database.balance(1)).isEqualTo(100);
    }

    @Test
    void anExceptionOfTheUserLeavesTheUnitAsItIs() {
        Exception checked = new Exception("checked");

        assertThatThrownBy(() -> claim.inTransaction(
                        new InnerTransactions(),
                        handle -> handle.inTransaction(h -> {
                            h.execute(WRITE, 0);
                            throw checked;
                        })))
                .isSameAs(checked)
                .hasNoSuppressedExceptions();
        assertThat(database.balance(1)).isEqualTo(100);
    }

    @Test
    void aSavepointWithinAnInnerTransactionUndoesItsPartOnly() {
        claim.inTransaction(new InnerTransactions(), handle -> {
            handle.useTransaction(h -> {
                h.execute(WRITE, 90);
                h.savepoint("before");
                assertThatThrownBy(() -> h.execute("SELECT 1 / 0"))
                        .isInstanceOf(UnableToExecuteStatementException.class);
                h.rollbackToSavepoint("before");
                h.savepoint("again");
                h.releaseSavepoint("again");
            });
            return true;
        });

        assertThat(database.balance(1)).isEqualTo(90);
    }

    @Test
    void aLostRaceInAnInnerTransactionStaysRetryable() {
        assertThatThrownBy(() -> claim.inTransaction(new InnerTransactions(), handle -> {
                    try {
                        handle.useTransaction(h -> {
                            h.execute("SET LOCAL lock_timeout = '20ms'");
                            jdbi.useTransaction(other -> {
                                other.execute(WRITE, 50);
                                h.execute(WRITE, 0);
                            });
                        });
                    } catch (UnableToExecuteStatementException swallowed) {
                        // As many a program does.
                    }
                    return true;
                }))
                .isInstanceOf(RetryableConflictException.class)
                .hasMessageContaining("canceling statement due to lock timeout");
        assertThat(database.balance(1)).isEqualTo(100);
    }

    @Test
    void aStricterLevelThatComesTooLateIsRefusedAndNotForgotten() {
        assertThatThrownBy(() -> claim.inTransaction(new InnerTransactions(), handle -> {
                    handle.execute(WRITE, 0);
                    assertThatThrownBy(() -> handle.useTransaction(
                                    TransactionIsolationLevel.SERIALIZABLE, h -> h.execute(WRITE, 1)))
                            .isInstanceOf(UnableToManipulateTransactionIsolationLevelException.class)
                            .hasRootCauseMessage(
                                    "Cannot change transaction isolation level in the middle of a transaction.");
                    return true;
                }))
                .isInstanceOf(TransactionRolledBackException.class)
                .hasMessageContaining("a statement failed, and the work went on as if it had not");
        assertThat(database.balance(1)).isEqualTo(100);
    }

    @Test
    void theLevelOfTheFenceIsKeptByInnerTransactions() {
        Claim<Handle> strict =
                JdbiFence.on(jdbi).isolation(Isolation.SERIALIZABLE).claim(newer);

        strict.inTransaction(new InnerTransactions(), handle -> {
            handle.attach(Accounts.class).add(-10);
            assertThat(handle.getTransactionIsolationLevel()).isEqualTo(TransactionIsolationLevel.SERIALIZABLE);
            return true;
        });

        assertThat(database.balance(1)).isEqualTo(90);
    }

    @Test
    void whatIsToRunAfterACommitIsRefusedSinceAnInnerOneWouldRunIt() {
        claim.inTransaction(new InnerTransactions(), handle -> {
            assertThatThrownBy(() -> handle.afterCommit(() -> {}))
                    .isInstanceOf(UnfencedWriteException.class)
                    .hasMessage(
                            "afterCommit or afterRollback inside of a fenced unit refused: Jdbi would run it at an inner"
                                    + " commit, before anything is committed, or not at all. Do it when the unit has returned.");
            handle.useTransaction(h ->
                    assertThatThrownBy(() -> h.afterRollback(() -> {})).isInstanceOf(UnfencedWriteException.class));
            handle.execute(WRITE, 90);
            return true;
        });
    }

    @Test
    void theConnectionItselfIsNotCommitted() {
        assertThatThrownBy(() -> claim.inTransaction(new InnerTransactions(), handle -> {
                    handle.execute(WRITE, 0);
                    try {
                        handle.getConnection().commit();
                    } catch (SQLException e) {
                        throw new IllegalStateException(e);
                    }
                    return true;
                }))
                .isInstanceOf(UnfencedWriteException.class)
                .hasMessageStartingWith("commit() in a fenced transaction on");
        assertThat(database.balance(1)).isEqualTo(100);
    }

    @Test
    void handlesOfNoUnitHaveTheHandlerOfTheUserAlsoOneThatIsSetLater() {
        jdbi.setTransactionHandler(new LocalTransactionHandler() {
            @Override
            public void begin(Handle handle) {
                throw new TransactionException("of the user");
            }
        });
        claim.inTransaction(new InnerTransactions(), handle -> {
            handle.begin();
            handle.execute(WRITE, 90);
            handle.commit();
            assertThatThrownBy(() -> jdbi.useTransaction(other -> {}))
                    .isInstanceOf(TransactionException.class)
                    .hasMessage("of the user");
            return true;
        });
        assertThat(database.balance(1)).isEqualTo(90);
        assertThatThrownBy(() -> claim.useTransaction(Handle::begin))
                .as("not a unit")
                .isInstanceOf(TransactionException.class)
                .hasMessage("of the user");
        assertThatCode(() -> jdbi.useHandle(handle -> handle.execute(WRITE, 1))).doesNotThrowAnyException();
    }
}
