package dev.fenceline.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.fenceline.BackendMisconfiguredException;
import dev.fenceline.BackendUnavailableException;
import dev.fenceline.FencelineListener;
import dev.fenceline.RetryableConflictException;
import dev.fenceline.StaleTokenException;
import dev.fenceline.TransactionRolledBackException;
import dev.fenceline.UnfencedWriteException;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.jdbi.v3.core.Handle;
import org.jdbi.v3.core.Jdbi;
import org.jdbi.v3.core.spi.JdbiPlugin;
import org.jdbi.v3.core.statement.UnableToExecuteStatementException;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

@Tag("server")
class JdbiFenceTest extends TwoGrants {

    private static final String WRITE = "UPDATE account SET balance = ? WHERE id = 1";

    Jdbi jdbi;
    JdbiFence fence;

    @BeforeEach
    void fence() {
        jdbi = Jdbi.create(database.source());
        fence = JdbiFence.on(jdbi).listener(FencelineListener.none());
        database.account(1, 100);
    }

    private record Ending(String name, Consumer<Handle> action, String message) {
        @Override
        public String toString() {
            return name;
        }
    }

    static Stream<Ending> endings() {
        return Stream.of(
                // Jdbi sets auto-commit before it commits or rolls back what it has not begun itself.
                new Ending("commit", Handle::commit, "setAutoCommit()"),
                new Ending("rollback", Handle::rollback, "setAutoCommit()"),
                new Ending("begin", Handle::begin, "setAutoCommit()"),
                new Ending(
                        "commit of the connection",
                        handle -> {
                            try {
                                handle.getConnection().commit();
                            } catch (SQLException e) {
                                throw new IllegalStateException(e);
                            }
                        },
                        "commit()"),
                new Ending("text", handle -> handle.execute("COMMIT"), "The statement COMMIT"));
    }

    @ParameterizedTest
    @MethodSource("endings")
    void aHandleDoesNotEndItsTransaction(Ending ending) {
        Claim<Handle> claim = fence.claim(older);

        assertThatThrownBy(() -> claim.useTransaction(handle -> {
                    handle.execute(WRITE, 0);
                    ending.action().accept(handle);
                }))
                .isInstanceOf(UnfencedWriteException.class)
                .hasMessageStartingWith(ending.message() + " in a fenced transaction on PostgreSQL guard '"
                        + older.lock() + "' refused before it was sent");
        assertThat(database.balance(1)).isEqualTo(100);
    }

    @Test
    void workRunsInOneTransactionThatTheHandleKnowsOf() {
        long balance = fence.claim(older).inTransaction(handle -> {
            assertThat(handle.isInTransaction()).isTrue();
            handle.execute(WRITE, 90);
            return handle.createQuery("SELECT balance FROM account WHERE id = 1")
                    .mapTo(Long.class)
                    .one();
        });

        assertThat(balance).isEqualTo(90);
        assertThat(database.balance(1)).isEqualTo(90);
    }

    @Test
    void pluginsAndSettingsOfTheUserStay() {
        AtomicInteger connections = new AtomicInteger();
        AtomicInteger handles = new AtomicInteger();
        jdbi.installPlugin(new JdbiPlugin() {
            @Override
            public Connection customizeConnection(Connection connection) {
                connections.incrementAndGet();
                return connection;
            }

            @Override
            public Handle customizeHandle(Handle handle) {
                handles.incrementAndGet();
                return handle.define("table", "account");
            }
        });
        jdbi.define("column", "balance");

        fence.claim(older)
                .useTransaction(handle -> handle.createUpdate("UPDATE <table> SET <column> = 90 WHERE id = 1")
                        .execute());

        assertThat(database.balance(1)).isEqualTo(90);
        assertThat(connections).hasValue(2);
        assertThat(handles).hasValue(2);
    }

    /** Opens a handle of its own while another is opened, once. */
    private abstract class OpeningPlugin implements JdbiPlugin {

        private boolean inside;

        Optional<Handle> another() {
            if (inside) {
                return Optional.empty();
            }
            inside = true;
            try {
                return Optional.of(jdbi.open());
            } finally {
                inside = false;
            }
        }
    }

    @Test
    void aHandleThatAPluginOpensMeanwhileTakesNoGuardAway() {
        AtomicInteger audits = new AtomicInteger();
        jdbi.installPlugin(new OpeningPlugin() {
            @Override
            public Handle customizeHandle(Handle handle) {
                another().ifPresent(audit -> {
                    try (audit) {
                        audit.execute("SELECT 1");
                        audits.incrementAndGet();
                    }
                });
                return handle;
            }
        });
        var own = new IllegalStateException("of the user");
        Claim<Handle> claim = fence.claim(older);

        assertThatThrownBy(() -> claim.useTransaction(handle -> {
                    handle.execute(WRITE, 0);
                    throw own;
                }))
                .isSameAs(own);
        assertThat(database.balance(1)).as("rolled back").isEqualTo(100);
        claim.useTransaction(handle -> handle.execute(WRITE, 90));
        assertThat(database.balance(1)).isEqualTo(90);
        assertThat(audits).hasValue(3);
    }

    @Test
    void aHandleThatIsNotTheGuardedOneIsRefused() {
        Claim<Handle> claim = fence.claim(older);
        jdbi.installPlugin(new OpeningPlugin() {
            @Override
            public Handle customizeHandle(Handle handle) {
                return another().orElse(handle);
            }
        });

        assertThatThrownBy(() -> claim.useTransaction(handle -> handle.execute(WRITE, 0)))
                .isInstanceOf(UnfencedWriteException.class)
                .hasMessageStartingWith(
                        "A handle of Jdbi refused: its connection is not the one that this fence guards, so what is"
                                + " written with it would be written without the fence.");
        assertThat(database.balance(1)).isEqualTo(100);
    }

    @Test
    void handlesThatNoFenceOpensAreLeftAlone() {
        JdbiFence.on(jdbi);
        jdbi.useHandle(handle -> {
            handle.begin();
            handle.execute(WRITE, 90);
            handle.commit();
        });
        fence.claim(older).useTransaction(fenced -> jdbi.useTransaction(other -> other.execute("SELECT 1")));

        assertThat(database.balance(1)).isEqualTo(90);
    }

    @Test
    void aHandleKeptBeyondItsTransactionIsRefused() {
        AtomicReference<Handle> kept = new AtomicReference<>();
        AtomicReference<Connection> connection = new AtomicReference<>();
        fence.claim(older).useTransaction(handle -> {
            kept.set(handle);
            connection.set(handle.getConnection());
        });

        assertThat(kept.get().isClosed()).isTrue();
        assertThatThrownBy(() -> TestDatabase.write(connection.get(), 1, 0))
                .isInstanceOf(UnfencedWriteException.class)
                .hasMessageContaining("the fenced transaction that it belonged to has ended");
    }

    @Test
    void aSwallowedFailureIsNotReportedAsAppliedAndASavepointForgivesIt() {
        Claim<Handle> claim = fence.claim(older);
        assertThatThrownBy(() -> claim.useTransaction(handle -> {
                    handle.execute(WRITE, 0);
                    try {
                        handle.execute("SELECT 1 / 0");
                    } catch (UnableToExecuteStatementException swallowed) {
                        // As many a program does.
                    }
                }))
                .isInstanceOf(TransactionRolledBackException.class)
                .hasMessageContaining(
                        "a statement failed, and the work went on as if it had not: ERROR: division by zero");
        assertThat(database.balance(1)).isEqualTo(100);

        claim.useTransaction(handle -> {
            handle.savepoint("before");
            assertThatThrownBy(() -> handle.execute("SELECT 1 / 0"))
                    .isInstanceOf(UnableToExecuteStatementException.class);
            handle.rollbackToSavepoint("before");
            handle.execute(WRITE, 90);
        });
        assertThat(database.balance(1)).isEqualTo(90);
    }

    @Test
    void aLostConnectionIsJudgedByTheMarkAlthoughJdbiWrapsIt() {
        Claim<Handle> claim = fence.claim(older);

        assertThatThrownBy(() -> claim.useTransaction(handle -> {
                    handle.execute(WRITE, 0);
                    database.execute("SELECT pg_terminate_backend(" + pid(handle) + ")");
                    overtake();
                    handle.execute(WRITE, 1);
                }))
                .isInstanceOf(StaleTokenException.class)
                .hasCauseInstanceOf(UnableToExecuteStatementException.class);
        assertThat(database.balance(1)).isEqualTo(100);
    }

    @Test
    void aLostRaceIsRetryableAndAFailedStatementTheUsersOwn() {
        Claim<Handle> claim = fence.claim(older);
        assertThatThrownBy(() -> claim.useTransaction(handle -> {
                    handle.execute("SET LOCAL lock_timeout = '20ms'");
                    jdbi.useTransaction(other -> {
                        other.execute(WRITE, 50);
                        handle.execute(WRITE, 0);
                    });
                }))
                .isInstanceOf(RetryableConflictException.class)
                .hasMessageContaining("canceling statement due to lock timeout")
                .hasMessageContaining("The claim is still good")
                .hasCauseInstanceOf(UnableToExecuteStatementException.class);
        assertThatThrownBy(() -> claim.useTransaction(handle -> handle.execute("INSERT INTO account VALUES (1, 1)")))
                .isInstanceOf(UnableToExecuteStatementException.class)
                .hasMessageContaining("duplicate key");
        assertThat(database.balance(1)).isEqualTo(100);
    }

    @Test
    void exceptionsOfTheUserComeOutAsTheyAre() {
        Exception checked = new Exception("checked");

        assertThatThrownBy(() -> fence.claim(older).useTransaction(handle -> {
                    handle.execute(WRITE, 0);
                    throw checked;
                }))
                .isSameAs(checked)
                .hasNoSuppressedExceptions();
        assertThat(database.balance(1)).isEqualTo(100);
    }

    @Test
    void underALockItAcquiresClaimsCommitsAndReleases() throws Exception {
        var lock = Grants.lock(older.lock());

        fence.under(lock).waitAtMost(Duration.ofSeconds(5)).run(handle -> handle.execute(WRITE, 90));

        assertThat(database.balance(1)).isEqualTo(90);
        Grants.lease(older.lock()).close();
    }

    @Test
    void noServerAndNoSchemaAreToldAsWithoutJdbi() {
        var nowhere = database.sourceAt("127.0.0.1", 1);
        assertThatThrownBy(() -> JdbiFence.on(Jdbi.create(nowhere)).claim(older))
                .isInstanceOf(BackendUnavailableException.class)
                .hasMessageContaining("failed, no connection: Connection to 127.0.0.1:1 refused.");
        TestDatabase bare = TestDatabase.withoutSchemaOn(database.server());
        assertThatThrownBy(() -> JdbiFence.on(Jdbi.create(bare.source())).claim(older))
                .isInstanceOf(BackendMisconfiguredException.class)
                .hasMessageContaining("This database has no fence schema; run FenceMigrations.on(owner).install()");
    }

    private static int pid(Handle handle) {
        try {
            return handle.getConnection()
                    .unwrap(org.postgresql.PGConnection.class)
                    .getBackendPID();
        } catch (SQLException e) {
            throw new IllegalStateException(e);
        }
    }
}
