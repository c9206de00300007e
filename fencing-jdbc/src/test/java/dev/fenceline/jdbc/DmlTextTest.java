package dev.fenceline.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class DmlTextTest {

    @ParameterizedTest
    @ValueSource(
            strings = {
                "UPDATE a SET b = 1",
                "  /* RETURNING */ insert into a values ('; RETURNING', \"x;\")",
                "DELETE FROM a -- ; RETURNING",
                "MERGE INTO a USING b ON a.i = b.i WHEN MATCHED THEN DELETE",
                "WITH x AS (SELECT 1 RETURNING_NOTHING) UPDATE a SET b = 1",
                "WITH x(update) AS MATERIALIZED (SELECT 1), y AS (VALUES (1)) INSERT INTO a SELECT * FROM x",
                "INSERT INTO a (update, delete) VALUES ($$ ; $$, E'\\'; RETURNING')",
                "UPDATE a SET b = (SELECT max(c) FROM d WHERE e = ?)",
            })
    void oneStatementThatWritesPasses(String sql) {
        assertThat(DmlText.checked(sql)).isEqualTo(sql);
    }

    @Test
    void semicolonsAtTheEndAreTakenOff() {
        assertThat(DmlText.checked("UPDATE a SET b = 1 ; ; -- done")).isEqualTo("UPDATE a SET b = 1 ");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "'' | it is empty",
                "-- UPDATE | it is empty",
                "; | it is empty",
                "UPDATE a SET b = 1; DELETE FROM a | it is several statements",
                "; UPDATE a SET b = 1 | it is several statements",
                "UPDATE a SET b = 1) , (DELETE FROM a | a parenthesis is closed that was not opened",
                "SELECT 1 | it is a SELECT, which changes nothing",
                "(SELECT 1) | it begins with (",
                "VALUES (1) | it is a VALUES",
                "WITH x AS (SELECT 1) SELECT * FROM x | it is a SELECT",
                "WITH x AS (DELETE FROM a RETURNING 1) INSERT INTO b SELECT * FROM x | its WITH clause has DELETE",
                "WITH x AS NOT MATERIALIZED (UPDATE a SET b = 1 RETURNING 1) DELETE FROM b | its WITH clause has UPDATE",
                "UPDATE a SET b = 1 RETURNING b | it has a RETURNING clause",
                "insert into a values (1) returning * | it has a RETURNING clause",
                "TRUNCATE a | it begins with TRUNCATE",
                "COPY a FROM STDIN | it begins with COPY",
                "CALL f() | it begins with CALL",
                "WITH | it begins with WITH",
            })
    void anythingElseIsRefusedAndSaidWhy(String sql, String why) {
        assertThatThrownBy(() -> DmlText.checked(sql))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageStartingWith("This SQL cannot run as one fenced statement: " + why)
                .hasMessageContaining(". Nothing was sent. Give it one INSERT, UPDATE, DELETE or MERGE, or use ");
    }
}
