package dev.fenceline.migrations;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Names are read as SQL reads them, and written so that SQL reads them again. */
class TableNameTest {

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '`',
            value = {
                "app.order | app | order | app.\"order\"",
                "App.ORDER | app | order | app.\"order\"",
                "orders | public | orders | public.orders",
                "\"Odd.Schema\".\"Or\"\"der\" | Odd.Schema | Or\"der | \"Odd.Schema\".\"Or\"\"der\"",
                " app . \"Order\" | app | Order | app.\"Order\"",
                "app.ключÉ$1 | app | ключÉ$1 | app.\"ключÉ$1\"",
                "_a.b_2 | _a | b_2 | _a.b_2",
            })
    void aNameIsReadAsSqlReadsIt(String text, String schema, String name, String shown) {
        TableName read = TableName.parse(text);

        assertThat(read).isEqualTo(new TableName(schema, name)).hasToString(shown);
        assertThat(TableName.parse(shown)).isEqualTo(read);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '`',
            value = {
                "`` | cannot be read at character 1",
                "app. | cannot be read at character 5",
                "app.1st | cannot be read at character 5",
                "app.order-line | cannot be read at character 10",
                "app.\"order | cannot be read at character 5",
                "app.\"\" | cannot be read at character 5",
                "app.order; drop table x | cannot be read at character 10",
                "db.app.order | has 3 parts. Name schema and table",
            })
    void whatSqlWouldNotReadIsRefusedWithThePlace(String text, String message) {
        assertThatThrownBy(() -> TableName.parse(text))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageStartingWith("Table name '" + text + "' ")
                .hasMessageContaining(message);
    }

    @Test
    void aNameThatPostgresWouldCutOffIsRefused() {
        String longest = "é".repeat(31) + "x";
        assertThat(new TableName(longest, longest).name()).isEqualTo(longest);
        assertThatThrownBy(() -> new TableName("app", longest + "x"))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("Table name '" + longest
                        + "x' has 64 bytes or holds a NUL; a name in PostgreSQL has 1 to 63 bytes.");
        assertThatThrownBy(() -> new TableName("", "x")).hasMessageContaining("has 0 bytes");
        assertThatThrownBy(() -> new TableName("a\0b", "x"))
                .hasMessageContaining("Table name 'a?b' has 3 bytes or holds a NUL");
    }

    @Test
    void columnsOfAKeyAreReadLikewise() {
        assertThat(Protect.table("app.order")
                        .lock("order", "ID", "\"I d.\"")
                        .observe()
                        .key())
                .containsExactly("id", "I d.");
        assertThatThrownBy(() -> Protect.table("app.order").lock("order", "o.id"))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage(
                        "Column 'o.id' has a dot. Name the column alone; a dot within its name is written in double quotes.");
        assertThatThrownBy(() ->
                        Protect.table("app.order").lock("order", "id", "Id").observe())
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("The key of app.\"order\" has the columns [id, id]; each is named once.");
        assertThatThrownBy(() -> Protect.table("app.order").lock("4ever", "id").enforce())
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("Lock class '4ever' cannot be used");
    }

    @Test
    void whateverANameHoldsItEndsNoCommentAndIsNoPlaceholder() {
        TableName name = new TableName("a", "x\r\n\u2028\u0085; DROP ${y} --");

        assertThat(Identifiers.comment(name.toString()))
                .isEqualTo("a.\"x????; DROP $ {y} --\"")
                .hasLineCount(1);
        assertThat(Identifiers.oneLine(name.toString())).isEqualTo("a.\"x????; DROP ${y} --\"");
        assertThat(name.asRegclass()).isEqualTo("\"a\".\"x\r\n\u2028\u0085; DROP ${y} --\"");
        assertThat(name.quoted()).isEqualTo("\"a\".U&\"x\r\n\u2028\u0085; DROP \\0024{y} --\"");
        assertThat(Identifiers.literal("it's \\ ${y}")).isEqualTo("(E'it''s \\\\ $' || '{y}')");
        assertThat(Identifiers.literal("${\\}${")).isEqualTo("('$' || E'{\\\\}$' || '{')");
        assertThat(Identifiers.literal("plain")).isEqualTo("'plain'");
    }
}
