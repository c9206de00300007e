package dev.fenceline.jdbc;

import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.function.Consumer;
import org.jdbi.v3.core.statement.SqlStatement;
import org.jspecify.annotations.Nullable;

/**
 * Columns and what to write to them, bound by Jdbi with everything that is registered with it.
 *
 * <pre>{@code
 * JdbiRowValues.of("balance", 110L).and("owner", owner)
 * JdbiRowValues.bound(q -> q.bindBean(account)).set("owner_name", ":ownerName").set("balance", ":balance")
 * JdbiRowValues.bound(q -> q.bind("amount", 10)).set("balance", "balance + :amount")
 * }</pre>
 *
 * <p>Parameters are written as Jdbi's default parser reads them, with a colon. The key and the mark are not among the values.
 *
 * <p><b>Thread-safety:</b> immutable, as far as what is bound is.
 */
public final class JdbiRowValues extends ColumnValues {

    private record Assignment(
            @Nullable String expression, @Nullable Object value) {}

    private final Consumer<? super SqlStatement<?>> binding;
    private final List<String> columns;
    private final List<Assignment> assignments;

    private JdbiRowValues(
            Consumer<? super SqlStatement<?>> binding, List<String> columns, List<Assignment> assignments) {
        this.binding = binding;
        this.columns = columns;
        this.assignments = assignments;
    }

    /**
     * Sets nothing: for a row that consists of its key.
     *
     * @return no columns
     */
    public static JdbiRowValues none() {
        return bound(statement -> {});
    }

    /**
     * Sets one column to a value.
     *
     * @param column its name, unquoted
     * @param value what Jdbi can bind, or null; cast to the column's type
     * @return one column; add others with {@link #and} and {@link #set}
     */
    public static JdbiRowValues of(String column, @Nullable Object value) {
        return none().and(column, value);
    }

    /**
     * Binds parameters in Jdbi's own way, for the expressions that follow.
     *
     * @param binding calls {@code bind}, {@code bindBean}, {@code bindMethods} and the like
     * @return no columns yet; add them with {@link #set}
     */
    public static JdbiRowValues bound(Consumer<? super SqlStatement<?>> binding) {
        return new JdbiRowValues(Objects.requireNonNull(binding, "binding"), List.of(), List.of());
    }

    /**
     * Adds a column with a value.
     *
     * @param column its name, unquoted
     * @param value what Jdbi can bind, or null; cast to the column's type
     * @return a copy with this column
     */
    public JdbiRowValues and(String column, @Nullable Object value) {
        return with(column, new Assignment(null, value));
    }

    /**
     * Adds a column with what SQL computes from bound parameters. In an update it may read the row.
     *
     * @param column its name, unquoted
     * @param expression an SQL expression such as {@code :balance}; never text from outside
     * @return a copy with this column
     */
    public JdbiRowValues set(String column, String expression) {
        return with(column, new Assignment(Objects.requireNonNull(expression, "expression"), null));
    }

    private JdbiRowValues with(String column, Assignment assignment) {
        List<String> names = new ArrayList<>(columns);
        names.add(added(readable(column), columns));
        List<Assignment> all = new ArrayList<>(assignments);
        all.add(assignment);
        return new JdbiRowValues(binding, List.copyOf(names), List.copyOf(all));
    }

    /** Refuses a name that Jdbi's parser would take apart: an empty pair of quotes is no quoted text to it. */
    static String readable(String name) {
        if (FencedTable.quoted(name).contains("\"\"\"")) {
            throw new IllegalArgumentException(
                    "Name '" + name + "' begins or ends with a double quote, or holds two in a"
                            + " row, which Jdbi's parser does not read. Use PostgresRows for this table, or rename it.");
        }
        return name;
    }

    void bindTo(SqlStatement<?> statement) {
        binding.accept(statement);
    }

    @Override
    List<String> columns() {
        return columns;
    }

    @Override
    void appendTo(RowStatement statement, int place, TableShape shape) {
        Assignment assignment = assignments.get(place);
        if (assignment.expression() == null) {
            statement.cast(assignment.value(), shape.type(columns.get(place)));
        } else {
            statement.text("(").fragment(assignment.expression(), List.of()).text(")");
        }
    }
}
