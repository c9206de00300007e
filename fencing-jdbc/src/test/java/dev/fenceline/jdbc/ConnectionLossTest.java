package dev.fenceline.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.fenceline.BackendUnavailableException;
import dev.fenceline.FencedLease;
import dev.fenceline.FencelineEvent.StaleRefused;
import dev.fenceline.FencingToken;
import dev.fenceline.StaleTokenException;
import dev.fenceline.testkit.FaultProxy;
import dev.fenceline.testkit.FaultProxy.Cut;
import java.io.UncheckedIOException;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** The connection is lost before COMMIT was sent: certainly nothing happened, and the reason is found out. */
@Tag("server")
class ConnectionLossTest extends TwoGrants {

    final RecordedEvents events = new RecordedEvents();
    PostgresFence fence;

    @BeforeEach
    void fence() {
        fence = PostgresFence.on(database.source()).listener(events);
        database.account(1, 100);
    }

    private static int pid(Connection connection) throws SQLException {
        return connection.unwrap(org.postgresql.PGConnection.class).getBackendPID();
    }

    /** Kills the session, and returns when its locks are free. */
    private static void terminate(int pid) {
        database.execute("SELECT pg_terminate_backend(" + pid + ")");
        awaitGone(pid);
    }

    private static void awaitGone(int pid) {
        TestDatabase.await(
                "session " + pid + " has ended",
                () -> database.number("SELECT count(*) FROM pg_stat_activity WHERE pid = " + pid) == 0);
    }

    @Test
    void aKilledSessionUnderTheNewestClaimIsUnavailableAndTheClaimGoesOn() {
        Claim<Connection> claim = fence.claim(older);

        assertThatThrownBy(() -> claim.useTransaction(c -> {
                    TestDatabase.write(c, 1, 0);
                    terminate(pid(c));
                    TestDatabase.write(c, 1, 1);
                }))
                .isInstanceOf(BackendUnavailableException.class)
                .hasMessage("Transaction under token " + older + " on PostgreSQL guard '" + older.lock()
                        + "' failed, the connection was lost: FATAL: terminating connection due to administrator command"
                        + " (SQLSTATE 57P01). Nothing of it was committed. The mark is " + older
                        + "; run it again under the same claim.")
                .hasCauseInstanceOf(SQLException.class);

        JdbcWork.add(claim, 1, 10);
        assertThat(database.balance(1)).isEqualTo(110);
    }

    @Test
    void aKilledSessionThatWasOvertakenIsStale() {
        Claim<Connection> claim = fence.claim(older);

        assertThatThrownBy(() -> claim.useTransaction(c -> {
                    TestDatabase.write(c, 1, 0);
                    terminate(pid(c));
                    overtake();
                    TestDatabase.write(c, 1, 1);
                }))
                .isInstanceOfSatisfying(StaleTokenException.class, e -> {
                    assertThat(e.presented()).isEqualTo(older);
                    assertThat(e.newest()).isEqualTo(newer);
                    assertThat(((SQLException) e.getCause()).getSQLState()).isEqualTo("57P01");
                })
                .hasMessageContaining("Transaction on PostgreSQL guard '" + older.lock() + "' refused: token " + older
                        + " is older by");
        assertThat(database.balance(1)).isEqualTo(100);
        assertThat(events.of(StaleRefused.class)).hasSize(1);
    }

    @Test
    void aLossThatTheWorkSwallowedIsToldAtTheCommit() {
        Claim<Connection> claim = fence.claim(older);

        assertThatThrownBy(() -> claim.useTransaction(c -> {
                    terminate(pid(c));
                    overtake();
                    try {
                        TestDatabase.write(c, 1, 1);
                    } catch (SQLException swallowed) {
                        // As many a program does.
                    }
                }))
                .isInstanceOf(StaleTokenException.class)
                .hasMessageContaining("A newer holder has taken over");
    }

    @Test
    void aLossThatNobodyNoticedIsFoundAtLeaving() {
        Claim<Connection> claim = fence.claim(older);

        assertThatThrownBy(() -> claim.useTransaction(c -> {
                    TestDatabase.write(c, 1, 1);
                    terminate(pid(c));
                }))
                .isInstanceOf(BackendUnavailableException.class)
                .hasMessageContaining("Nothing of it was committed. The mark is " + older);
        assertThat(database.balance(1)).isEqualTo(100);
    }

    @Test
    void theUsersOwnExceptionComesOutWithOursSuppressed() {
        Claim<Connection> claim = fence.claim(older);
        var own = new UncheckedIOException(new java.io.IOException("the user's"));

        assertThatThrownBy(() -> claim.useTransaction(c -> {
                    terminate(pid(c));
                    overtake();
                    try {
                        TestDatabase.write(c, 1, 1);
                    } catch (SQLException e) {
                        throw own;
                    }
                }))
                .isSameAs(own)
                .satisfies(e -> assertThat(e.getSuppressed()).singleElement().isInstanceOf(StaleTokenException.class));
    }

    @Test
    void anExceptionOfAnotherConnectionIsTheUsersOwn() {
        Claim<Connection> claim = fence.claim(older);

        assertThatThrownBy(() -> claim.useTransaction(c -> {
                    try (Connection other = database.source().getConnection()) {
                        terminate(pid(other));
                        TestDatabase.read(other, 1);
                    }
                }))
                .isInstanceOfSatisfying(
                        SQLException.class, e -> assertThat(e.getSQLState()).isEqualTo("57P01"))
                .hasNoSuppressedExceptions();
    }

    @Test
    void aSleeperThatTheServerEndedAndThatWasOvertakenIsStale() {
        FencedLease lease = Grants.lease(older.lock());
        Claim<Connection> claim = fence.claim(lease);
        lease.close();
        FencingToken next = Grants.next(older.lock());

        assertThatThrownBy(() -> claim.useTransaction(c -> {
                    // Sleeps until the server loses its patience, after a second.
                    awaitGone(pid(c));
                    PostgresFence.on(database.sourceNamed("another-process")).claim(next);
                    TestDatabase.write(c, 1, 1);
                }))
                .isInstanceOfSatisfying(StaleTokenException.class, e -> {
                    assertThat(e.presented()).isEqualTo(lease.token());
                    assertThat(e.newest()).isEqualTo(next);
                    assertThat(((SQLException) e.getCause()).getSQLState()).isEqualTo("25P03");
                });
        assertThat(database.balance(1)).isEqualTo(100);
    }

    @Test
    void aTransactionThatLastsTooLongIsEndedByTheServer() throws SQLException {
        Claim<Connection> claim =
                fence.transactionTimeout(Duration.ofMillis(200)).claim(older);
        if (database.server().majorVersion() < 17) {
            // Such a server knows no limit, and a transaction that is busy keeps others out for as long as it likes.
            claim.useTransaction(c -> {
                c.createStatement().execute("SELECT pg_sleep(0.4)");
                TestDatabase.write(c, 1, 0);
            });
            assertThat(database.balance(1)).isZero();
            return;
        }

        assertThatThrownBy(() -> claim.useTransaction(c -> {
                    TestDatabase.write(c, 1, 0);
                    c.createStatement().execute("SELECT pg_sleep(20)");
                }))
                .isInstanceOf(BackendUnavailableException.class)
                .hasMessageContaining("terminating connection due to transaction timeout (SQLSTATE 25P04)");
        assertThat(database.balance(1)).isEqualTo(100);
    }

    @Test
    void withoutTheDatabaseItStaysCertainThatNothingHappened() {
        try (FaultProxy proxy =
                FaultProxy.to(database.server().host(), database.server().port())) {
            Claim<Connection> claim = PostgresFence.on(database.sourceAt(proxy.host(), proxy.port()))
                    .claim(older);

            assertThatThrownBy(() -> claim.useTransaction(c -> {
                        TestDatabase.write(c, 1, 0);
                        proxy.refuse();
                        TestDatabase.write(c, 1, 1);
                    }))
                    .isInstanceOf(BackendUnavailableException.class)
                    .hasMessageEndingWith(
                            "Nothing of it was committed. Run it again under the same claim when the database"
                                    + " answers.")
                    .satisfies(e -> assertThat(e.getSuppressed()).hasSize(1));
        }
        assertThat(database.balance(1)).isEqualTo(100);
    }

    @ParameterizedTest
    @EnumSource(Cut.class)
    void aReplyLostAtEnteringOrLeavingIsCertainlyNotApplied(Cut cut) {
        try (FaultProxy proxy =
                FaultProxy.to(database.server().host(), database.server().port())) {
            Claim<Connection> claim = PostgresFence.on(database.sourceAt(proxy.host(), proxy.port()))
                    .claim(older);
            for (String step : new String[] {"enter_v2", "leave_v1"}) {
                proxy.onRequest(step).loseReply(cut);
                assertThatThrownBy(() -> claim.useTransaction(c -> TestDatabase.write(c, 1, 0)))
                        .isInstanceOf(BackendUnavailableException.class)
                        .hasMessageContaining("Nothing of it was committed. The mark is " + older);
            }
        }
        assertThat(database.balance(1)).isEqualTo(100);
    }

    @ParameterizedTest
    @EnumSource(Cut.class)
    void aClaimWhoseReplyWasLostIsRepeated(Cut cut) {
        try (FaultProxy proxy =
                FaultProxy.to(database.server().host(), database.server().port())) {
            PostgresFence broken = PostgresFence.on(database.sourceAt(proxy.host(), proxy.port()));
            var lost = proxy.onRequest("claim_v2").loseReply(cut);
            broken.claim(older);
            assertThat(lost.fired()).isTrue();
            assertThat(database.mark(older)).isEqualTo(older);

            var dropped = proxy.onRequest("claim_v2").dropRequest(cut);
            broken.claim(newer);
            assertThat(dropped.fired()).isTrue();
            assertThat(database.mark(older)).isEqualTo(newer);
        }
    }

    @Test
    void aClaimThatIsNeverAnsweredSaysThatTheMarkMayBeRaised() {
        try (FaultProxy proxy =
                FaultProxy.to(database.server().host(), database.server().port())) {
            var source = new HookedSource(database.sourceAt(proxy.host(), proxy.port()), number -> {
                if (number == 2) {
                    proxy.refuse();
                }
            });
            proxy.onRequest("claim_v2").loseReply(Cut.RST);

            assertThatThrownBy(() -> PostgresFence.on(source).claim(older))
                    .isInstanceOf(BackendUnavailableException.class)
                    .hasMessageStartingWith("Claim of token " + older + " on PostgreSQL guard '" + older.lock()
                            + "' failed, the connection was lost: ")
                    .hasMessageEndingWith(
                            "No answer came, so the mark may have been raised, which does no harm: a claim is"
                                    + " repeated with the same token while its lease runs, or the lock is acquired anew.");
            assertThat(source.opened()).isEqualTo(2);
        }
    }

    @Test
    void aSilentServerDoesNotHoldAClaimForEver() {
        try (FaultProxy proxy =
                FaultProxy.to(database.server().host(), database.server().port())) {
            var source = new HookedSource(database.sourceAt(proxy.host(), proxy.port()), number -> {
                if (number == 2) {
                    throw new SQLException("no second connection", "08001");
                }
            });
            var reply = proxy.onRequest("claim_v2").holdReply();

            assertThatThrownBy(() -> PostgresFence.on(source)
                            .claimTimeout(Duration.ofMillis(1))
                            .claim(older))
                    .isInstanceOf(BackendUnavailableException.class)
                    .hasMessageContaining("No answer came");
            assertThat(reply.fired()).isTrue();
        }
    }

    @Test
    void aClaimIsNotRepeatedOnceItsLeaseIsOver() {
        try (FaultProxy proxy =
                FaultProxy.to(database.server().host(), database.server().port())) {
            FencedLease lease = Grants.lease(older.lock());
            var source = new HookedSource(database.sourceAt(proxy.host(), proxy.port()), number -> {});
            var reply = proxy.onRequest("claim_v2").holdReply();
            Thread thief = new Thread(() -> {
                reply.awaitFired(Duration.ofSeconds(20));
                lease.close();
                proxy.cutAll(Cut.RST);
            });
            thief.start();

            assertThatThrownBy(() -> PostgresFence.on(source).claim(lease))
                    .isInstanceOf(BackendUnavailableException.class)
                    .hasMessageContaining("No answer came, so the mark may have been raised");
            assertThat(source.opened()).as("no second claim was sent").isEqualTo(1);
        }
    }
}
