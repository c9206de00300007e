package dev.fenceline.jdbc;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class TransactionControlTest {

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "COMMIT | COMMIT",
                "commit work | COMMIT",
                "COMMIT AND CHAIN | COMMIT",
                "COMMIT PREPARED 'x' | COMMIT",
                "End; | END",
                "BEGIN | BEGIN",
                "begin isolation level serializable | BEGIN",
                "START  TRANSACTION | START TRANSACTION",
                "ABORT | ABORT",
                "ROLLBACK | ROLLBACK",
                "ROLLBACK WORK | ROLLBACK",
                "ROLLBACK AND CHAIN | ROLLBACK",
                "rollback prepared 'x' | ROLLBACK",
                "PREPARE TRANSACTION 'x' | PREPARE TRANSACTION",
                "/* a /* nested */ comment */ COMMIT | COMMIT",
                "; ;COMMIT | COMMIT",
                "COMMIT; UPDATE a SET b = 1 | COMMIT",
            })
    void textThatBeginsWithTransactionControlIsRecognised(String sql, String command) {
        assertThat(TransactionControl.ending(sql)).contains(command);
    }

    @Test
    void lineCommentsAndLineBreaksBeforeTheCommandMeanNothing() {
        assertThat(TransactionControl.ending("-- UPDATE\n\t -- more\n COMMIT")).contains("COMMIT");
        assertThat(TransactionControl.ending("-- UPDATE\rCOMMIT"))
                .as("a line may end by a carriage return alone")
                .contains("COMMIT");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "-- COMMIT",
                "/* COMMIT",
                "SELECT 1",
                "UPDATE commit SET x = 1",
                "SELECT 'COMMIT'",
                "commits",
                "SAVEPOINT a",
                "RELEASE a",
                "ROLLBACK TO a",
                "ROLLBACK TO SAVEPOINT a",
                "ROLLBACK WORK TO a",
                "ROLLBACK TRANSACTION TO SAVEPOINT \"A b\"",
                "PREPARE plan AS SELECT 1",
                "SET TRANSACTION READ ONLY",
            })
    void otherTextPasses(String sql) {
        assertThat(TransactionControl.ending(sql)).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "UPDATE a SET b = 1; COMMIT",
                "SELECT ';'; /* ; */ -- ;\n rollback; SELECT 1",
                "SELECT $x$ ; $x$, \"a;\"\"b\", E'it''s'; PREPARE TRANSACTION 'x'",
            })
    void transactionControlBehindAnotherStatementIsSeen(String sql) {
        assertThat(TransactionControl.endsLater(sql)).isTrue();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "SELECT 1; SELECT 2;",
                "SELECT '; COMMIT'; SELECT 1",
                "DO $$ BEGIN NULL; END $$",
                "SELECT $x$ ; COMMIT $x$",
                "SELECT \"; COMMIT\"",
                "SELECT 1 -- ; COMMIT",
                "SELECT 1 /* ; COMMIT /* */ ; COMMIT */",
                "SAVEPOINT a; ROLLBACK TO a",
            })
    void textThatOnlyMentionsItIsNot(String sql) {
        assertThat(TransactionControl.endsLater(sql)).isFalse();
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "SAVEPOINT A | a",
                "savepoint \"A b\" | A b",
                "/* x */ SAVEPOINT s1; SELECT 1 | s1",
            })
    void theNameOfASavepointIsRead(String sql, String name) {
        assertThat(TransactionControl.savepoint(sql)).contains(name);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "ROLLBACK TO A | a",
                "ROLLBACK WORK TO SAVEPOINT s1 | s1",
                "rollback transaction to savepoint \"A b\" | A b",
            })
    void theTargetOfARollbackIsRead(String sql, String name) {
        assertThat(TransactionControl.rollbackTo(sql)).contains(name);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "SET LOCAL lock_timeout = '1s'",
                "set transaction isolation level serializable;",
                "/* a comment; */ SET TRANSACTION READ ONLY ; -- another;",
                "SHOW work_mem",
                "SET x = 'a;b'",
                "SET CONSTRAINTS ALL DEFERRED",
            })
    void aSettingIsRecognised(String sql) {
        assertThat(TransactionControl.isSetting(sql)).isTrue();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "SELECT 1",
                "SETTLE",
                "SET x = 1; UPDATE a SET b = 1",
                "SHOW x; SELECT 1",
                "SET TRANSACTION SNAPSHOT '1'",
                "set /* */ transaction -- x\n snapshot '1'",
                "SAVEPOINT a",
                "RESET ALL",
            })
    void whatIsMoreThanASettingIsNone(String sql) {
        assertThat(TransactionControl.isSetting(sql)).isFalse();
    }
}
