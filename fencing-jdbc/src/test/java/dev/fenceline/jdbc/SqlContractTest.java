package dev.fenceline.jdbc;

import static org.assertj.core.api.Assertions.assertThat;

import dev.fenceline.jdbc.ContractPage.Step;
import java.io.IOException;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.postgresql.ds.PGSimpleDataSource;
import org.postgresql.jdbc.PreferQueryMode;
import org.postgresql.util.PSQLException;

/** The session of docs/sql-contract.md is what a server answers, to the letter. */
@Tag("server")
class SqlContractTest {

    @Test
    void theSessionWorksAsItStandsForARoleThatOwnsItsTableAndNothingElse() throws Exception {
        ContractPage.Place place = ContractPage.place();
        PGSimpleDataSource source = place.database().sourceNamed("sql-contract");
        source.setUser(place.role());
        // As psql and most languages talk to the server.
        source.setPreferQueryMode(PreferQueryMode.SIMPLE);

        List<Step> answered = new ArrayList<>();
        try (Connection connection = source.getConnection()) {
            for (Step step : ContractPage.steps()) {
                answered.add(new Step(step.sql(), outcome(connection, step.sql())));
            }
        }

        assertThat(answered).isEqualTo(ContractPage.steps());
    }

    @Test
    void everyStateThatAClientMeetsIsInTheTable() throws IOException {
        String page = ContractPage.text();
        for (String state : List.of(
                "FL001", "FL002", "FL003", "FL004", "FL010", "FL011", "22023", "2D000", "40001", "40P01", "55P03",
                "42501")) {
            assertThat(page).contains("`" + state + "`");
        }
    }

    private static String outcome(Connection connection, String sql) throws SQLException {
        try (Statement statement = connection.createStatement()) {
            if (!statement.execute(sql)) {
                return ContractPage.rows(Math.max(0, statement.getUpdateCount()));
            }
            try (ResultSet row = statement.getResultSet()) {
                assertThat(row.next()).as("a row of " + sql).isTrue();
                String value = row.getString(1);
                assertThat(row.next()).as("a second row of " + sql).isFalse();
                // A function that returns nothing shows an empty text.
                return value == null || value.isEmpty() ? "ok" : value;
            }
        } catch (PSQLException e) {
            return e.getSQLState() + ": "
                    + (e.getServerErrorMessage() == null
                            ? e.getMessage()
                            : e.getServerErrorMessage().getMessage());
        }
    }
}
