package dev.fenceline.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.fenceline.FencelineEvent.BlockerEvicted;
import dev.fenceline.FencingToken;
import dev.fenceline.RetryableConflictException;
import dev.fenceline.StaleTokenException;
import dev.fenceline.migrations.FenceMigrations;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Guard mode and row mode under one lock, one of which keeps the other out. */
@Tag("server")
class RowEvictionTest extends OneRow {

    private static final Duration WAIT = Duration.ofMillis(300);

    private PostgresFence evicting() {
        return PostgresFence.on(database.source())
                .claimTimeout(WAIT)
                .evictBlockers()
                .listener(events);
    }

    @Test
    void aTransactionThatMakesItsRowUnderAnOlderTokenIsEndedAndIsStale() throws SQLException {
        remove();
        RowClaim<Long> old = rows.claim(older, id, VALUE);
        try (Connection connection = transaction(database.sourceNamed("row-holder"))) {
            old.in(connection).insert(value(1));

            evicting().claim(newer);

            assertThat(events.of(BlockerEvicted.class))
                    .extracting(BlockerEvicted::applicationName)
                    .containsExactly("row-holder");
            assertThatThrownBy(connection::commit).isInstanceOf(SQLException.class);
        }
        assertThat(stored()).as("what was not committed is undone").isEqualTo("none");
        assertThatThrownBy(() -> old.insert(value(1)))
                .isInstanceOfSatisfying(
                        StaleTokenException.class, e -> assertThat(e.newest()).isEqualTo(newer));
        rows.claim(newer, id, VALUE).insert(value(2));
        assertThat(stored()).isEqualTo("2");
    }

    @Test
    void aTransactionThatRemovesItsRowUnderANewerTokenMayBeEndedAndGoesOn() throws SQLException {
        FencingToken oldest = older;
        FencingToken middle = newer;
        PostgresFence.on(database.source()).listener(events).claim(oldest);
        RowClaim<Long> newest = rows.claim(Grants.next(older.lock()), id, VALUE);
        try (Connection connection = transaction(database.sourceNamed("row-holder"))) {
            newest.in(connection).delete();

            // The newest one's token is in the row, and in a version of the guard that nobody else can see.
            Claim<Connection> claim = evicting().claim(middle);

            assertThat(events.of(BlockerEvicted.class)).hasSize(1);
            assertThatThrownBy(connection::commit).isInstanceOf(SQLException.class);
            assertThat(stored()).as("nothing of it was committed").isEqualTo("100");
            newest.update(value(7));
            newest.delete();
            assertThatThrownBy(() -> claim.useTransaction(c -> TestDatabase.read(c, 1)))
                    .as("its claim went on, and is the newer one")
                    .isInstanceOfSatisfying(
                            StaleTokenException.class,
                            e -> assertThat(e.newest()).isEqualTo(newest.token()));
        }
        assertThat(stored()).isEqualTo("none");
    }

    @Test
    void aTransactionThatOnlyUpdatesItsRowKeepsNoGuardAndIsLeftAlone() throws SQLException {
        RowClaim<Long> old = rows.claim(older, id, VALUE);
        try (Connection connection = transaction(database.sourceNamed("row-holder"))) {
            old.in(connection).update(value(1));

            evicting().claim(newer);

            connection.commit();
        }
        assertThat(events.of(BlockerEvicted.class)).isEmpty();
        assertThat(stored()).as("the row's own mark rules it").isEqualTo("1");
    }

    @Test
    void aClaimOfTheRowNamesItsBlockerAndEndsNobody() throws SQLException {
        RowClaim<Long> old = rows.claim(older, id, VALUE);
        try (Connection connection = transaction(database.sourceNamed("row-holder"))) {
            old.in(connection).update(value(1));
            assertThatThrownBy(() -> rows.claimTimeout(WAIT).claim(newer, id, VALUE))
                    .isInstanceOf(RetryableConflictException.class)
                    .hasMessageContaining("application_name 'row-holder'");
            connection.commit();
        }
        assertThat(stored()).isEqualTo("1");
    }

    @Test
    void aRoleOfRowModeAloneIsToldWhoKeepsTheGuardFromIt() throws SQLException {
        remove();
        String role = "blocked_" + database.name();
        database.execute("CREATE ROLE " + role + " LOGIN; GRANT ALL ON thing TO " + role);
        FenceMigrations.on(database.source()).grantRowsTo(role);
        PostgresRows<Long> blocked =
                on(database.server().dataSource(database.name(), role)).claimTimeout(WAIT);
        blocked.claim(older, id, VALUE);
        try (Connection connection = transaction(database.sourceNamed("guard-holder"))) {
            raise(connection, newer);
            assertThatThrownBy(() -> blocked.blind(older, id).insert(value(1)))
                    .isInstanceOf(RetryableConflictException.class)
                    .hasMessageContaining("it was blocked for longer than 300 ms, by pid ")
                    .hasMessageContaining(", application_name 'guard-holder'");
        }
    }
}
