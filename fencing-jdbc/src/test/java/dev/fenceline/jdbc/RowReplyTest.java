package dev.fenceline.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.fenceline.BackendUnavailableException;
import dev.fenceline.FencelineEvent.WriteEnded;
import dev.fenceline.FencelineEvent.WriteOutcome;
import dev.fenceline.OutcomeUnknownException;
import dev.fenceline.OutcomeUnknownException.Resolution;
import dev.fenceline.RetryableConflictException;
import dev.fenceline.StaleTokenException;
import dev.fenceline.testkit.FaultProxy;
import dev.fenceline.testkit.FaultProxy.Cut;
import java.sql.SQLException;
import java.util.Map;
import javax.sql.DataSource;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** The answer to a statement of row mode is lost: what happened is told rightly. */
@Tag("server")
class RowReplyTest extends OneRow {

    private static final String UPDATE = "AS a SET \"value\"";

    FaultProxy proxy;
    DataSource throughProxy;

    @BeforeEach
    void open() {
        proxy = FaultProxy.to(database.server().host(), database.server().port());
        throughProxy = database.sourceAt(proxy.host(), proxy.port());
    }

    @AfterEach
    void close() {
        proxy.close();
    }

    private WriteOutcome last() {
        var ended = events.of(WriteEnded.class);
        return ended.get(ended.size() - 1).outcome();
    }

    @ParameterizedTest
    @EnumSource(Cut.class)
    void aClaimWhoseReplyWasLostIsRepeated(Cut cut) throws SQLException {
        var lost = proxy.onRequest("RETURNING a.*").loseReply(cut);
        assertThat(on(throughProxy).claim(older, id, VALUE).row()).contains(100L);
        assertThat(lost.fired()).isTrue();

        var dropped = proxy.onRequest("RETURNING a.*").dropRequest(cut);
        assertThat(on(throughProxy).claim(newer, id, VALUE).row()).contains(100L);
        assertThat(dropped.fired()).isTrue();
    }

    @Test
    void aClaimThatIsNeverAnsweredSaysThatTheMarkMayBeRaised() {
        var source = new HookedSource(throughProxy, number -> {
            if (number == 2) {
                proxy.refuse();
            }
        });
        proxy.onRequest("RETURNING a.*").loseReply(Cut.RST);

        assertThatThrownBy(() -> on(source).claim(older, id, VALUE))
                .isInstanceOf(BackendUnavailableException.class)
                .hasMessageStartingWith(
                        "Claim of token " + older + " on " + resource + " failed, the connection was lost: ")
                .hasMessageEndingWith("No answer came, so the mark may have been raised, which does no harm: a claim is"
                        + " repeated with the same token while its lease runs, or the lock is acquired anew.");
    }

    @ParameterizedTest
    @EnumSource(Cut.class)
    void aWriteThatIsNotRecordedIsUnknownAndTheRowTells(Cut cut) throws SQLException {
        RowClaim<Long> claim = on(throughProxy).claim(older, id, VALUE);
        proxy.onRequest(UPDATE).loseReply(cut);

        assertThatThrownBy(() -> claim.update(value(7)))
                .isInstanceOfSatisfying(
                        OutcomeUnknownException.class,
                        e -> assertThat(e.resolvable()).isFalse())
                .hasMessageStartingWith("Update of " + resource + " under token " + older
                        + " may have happened: the connection was lost (")
                .hasMessageEndingWith(
                        "), and nothing recorded it. Read the row under its claim before the write is done"
                                + " again; a fence that is recorded() settles a lost answer by itself.");
        assertThat(last()).isEqualTo(WriteOutcome.UNKNOWN);
        assertThat(claim.read()).contains(7L);
    }

    @ParameterizedTest
    @EnumSource(names = {"UPDATE", "INSERT", "UPSERT", "DELETE", "BATCH", "BLIND_UPDATE"})
    void aRecordedWriteThatHappenedReturnsNormallyAlthoughItsReplyWasLost(RowForms form) throws SQLException {
        if (!form.needsRow) {
            remove();
        }
        RowForms.Ready statement = form.ready(on(throughProxy).recorded(), older, id);
        var lost = proxy.onRequest("record_row_v1").loseReply(Cut.FIN);

        statement.run();

        assertThat(lost.fired()).isTrue();
        assertThat(stored()).isEqualTo(form.after);
        assertThat(last()).isEqualTo(WriteOutcome.APPLIED);
    }

    @ParameterizedTest
    @EnumSource(Cut.class)
    void aRecordedWriteThatNeverArrivedIsReportedAsNotHappened(Cut cut) throws SQLException {
        RowClaim<Long> claim = on(throughProxy).recorded().claim(older, id, VALUE);
        proxy.onRequest("record_row_v1").dropRequest(cut);

        assertThatThrownBy(() -> claim.update(value(7)))
                .isInstanceOf(BackendUnavailableException.class)
                .hasMessageStartingWith(
                        "Update under token " + older + " on " + resource + " failed, the connection was lost: ")
                .hasMessageEndingWith(" Nothing of it happened; try again under the same claim.");
        assertThat(stored()).isEqualTo("100");
        claim.update(value(8));
        assertThat(stored()).isEqualTo("8");
    }

    @Test
    void aRecordedWriteThatNeverArrivedAndWasOvertakenIsStale() throws SQLException {
        // The claim and the write take two connections, the resolver the third and the marks the fourth.
        RowClaim<Long> claim = on(new HookedSource(throughProxy, number -> {
                    if (number == 4) {
                        rows.claim(newer, id, VALUE);
                    }
                }))
                .recorded()
                .claim(older, id, VALUE);
        proxy.onRequest("record_row_v1").dropRequest(Cut.RST);

        assertThatThrownBy(() -> claim.update(value(7)))
                .isInstanceOfSatisfying(
                        StaleTokenException.class, e -> assertThat(e.newest()).isEqualTo(newer));
        assertThat(last()).isEqualTo(WriteOutcome.STALE);
    }

    @Test
    void anOutcomeThatCannotBeAskedForIsResolvedLater() throws SQLException {
        RowClaim<Long> claim = on(new HookedSource(throughProxy, number -> {
                    if (number == 3) {
                        throw new SQLException("the database cannot be reached", "08001");
                    }
                }))
                .recorded()
                .claim(older, id, VALUE);
        proxy.onRequest("record_row_v1").loseReply(Cut.RST);

        assertThatThrownBy(() -> claim.update(value(7)))
                .isInstanceOfSatisfying(OutcomeUnknownException.class, e -> {
                    assertThat(e.resolvable()).isTrue();
                    assertThat(e.resolve()).isEqualTo(Resolution.APPLIED);
                })
                .hasMessageContaining(
                        "may have happened: the answer was lost, and asking did not settle it: the database cannot be"
                                + " reached");
        assertThat(last()).isEqualTo(WriteOutcome.UNKNOWN);
    }

    @Test
    void whatWroteNothingRecordsNothing() throws SQLException {
        RowClaim<Long> claim = rows.recorded().claim(older, id, VALUE);
        RowClaim<Long> other = rows.recorded().claim(newer, id, VALUE);
        long before = database.number("SELECT count(*) FROM fenceline.operation");

        assertThatThrownBy(() -> claim.update(value(7))).isInstanceOf(StaleTokenException.class);
        assertThatThrownBy(() -> rows.recorded().updateAll(Map.of(claim, value(7))))
                .isInstanceOf(StaleTokenException.class);
        assertThat(database.number("SELECT count(*) FROM fenceline.operation")).isEqualTo(before);
        other.update(value(8));
        assertThat(database.number("SELECT count(*) FROM fenceline.operation")).isEqualTo(before + 1);
    }

    @Test
    void aTimeThatWasAskedForDaysAgoIsAskedForAgain() throws SQLException {
        TestDatabase asleep = TestDatabase.create();
        asleep.execute("CREATE TABLE thing (id bigint PRIMARY KEY, value bigint, fence_token bigint NOT NULL DEFAULT 0,"
                + " fence_holder uuid); INSERT INTO thing VALUES (" + id + ", 100)");
        var source = new HookedSource(asleep.source(), number -> {});
        RowClaim<Long> claim = on(source).recorded().claim(older, id, VALUE);
        claim.update(value(1));
        // As if eight days had passed in between.
        asleep.execute("ALTER FUNCTION fenceline.record_row_v1(uuid, timestamptz) RENAME TO recorded_later;"
                + " CREATE FUNCTION fenceline.record_row_v1(uuid, timestamptz) RETURNS boolean LANGUAGE sql AS"
                + " 'SELECT fenceline.recorded_later($1, $2 - interval ''8 days'')'");

        assertThatThrownBy(() -> claim.update(value(2)))
                .isInstanceOf(RetryableConflictException.class)
                .hasMessage("Update of " + resource + " under token " + older
                        + " refused: this process asked for the server's time days ago. Nothing of it happened. The claim is"
                        + " still good; read the row again under it, and try again.");
        asleep.execute("DROP FUNCTION fenceline.record_row_v1;"
                + " ALTER FUNCTION fenceline.recorded_later(uuid, timestamptz) RENAME TO record_row_v1");
        claim.update(value(3));
        assertThat(asleep.number("SELECT value FROM thing")).isEqualTo(3);
    }
}
