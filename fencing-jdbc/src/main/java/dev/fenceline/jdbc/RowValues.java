package dev.fenceline.jdbc;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Columns and the values to write to them: {@code RowValues.of("balance", 110L).and("owner", "ann")}.
 *
 * <p>A value is bound as the driver binds it and cast to the column's type, so that a {@code String} fits a {@code jsonb}, a {@code
 * uuid} or an enumeration, and null fits all. An expression is SQL text with {@code ?} for its parameters; in an update it may read the
 * row: {@code RowValues.ofSql("balance", "balance + ?", 10)}. The key and the mark are not among the values.
 *
 * <p><b>Thread-safety:</b> immutable, as far as the values are.
 */
public final class RowValues extends ColumnValues {

    private record Assignment(@Nullable String expression, List<@Nullable Object> parameters) {}

    private static final RowValues NONE = new RowValues(List.of(), List.of());

    private final List<String> columns;
    private final List<Assignment> assignments;

    private RowValues(List<String> columns, List<Assignment> assignments) {
        this.columns = columns;
        this.assignments = assignments;
    }

    /**
     * Sets nothing: for a row that consists of its key.
     *
     * @return no columns
     */
    public static RowValues none() {
        return NONE;
    }

    /**
     * Sets one column to a value.
     *
     * @param column its name, unquoted
     * @param value what the driver can bind, or null
     * @return one column; add others with {@link #and}
     */
    public static RowValues of(String column, @Nullable Object value) {
        return NONE.and(column, value);
    }

    /**
     * Sets one column to what SQL computes.
     *
     * @param column its name, unquoted
     * @param expression an SQL expression; never text from outside
     * @param parameters for each {@code ?} of the expression
     * @return one column; add others with {@link #and}
     */
    public static RowValues ofSql(String column, String expression, @Nullable Object... parameters) {
        return NONE.andSql(column, expression, parameters);
    }

    /**
     * Adds a column with a value.
     *
     * @param column its name, unquoted
     * @param value what the driver can bind, or null
     * @return a copy with this column
     */
    public RowValues and(String column, @Nullable Object value) {
        return with(column, new Assignment(null, Collections.singletonList(value)));
    }

    /**
     * Adds a column with what SQL computes.
     *
     * @param column its name, unquoted
     * @param expression an SQL expression; never text from outside
     * @param parameters for each {@code ?} of the expression
     * @return a copy with this column
     */
    public RowValues andSql(String column, String expression, @Nullable Object... parameters) {
        Objects.requireNonNull(expression, "expression");
        return with(column, new Assignment(expression, new ArrayList<>(Arrays.asList(parameters))));
    }

    private RowValues with(String column, Assignment assignment) {
        List<String> names = new ArrayList<>(columns);
        names.add(added(column, columns));
        List<Assignment> all = new ArrayList<>(assignments);
        all.add(assignment);
        return new RowValues(List.copyOf(names), List.copyOf(all));
    }

    @Override
    List<String> columns() {
        return columns;
    }

    @Override
    void appendTo(RowStatement statement, int place, TableShape shape) {
        Assignment assignment = assignments.get(place);
        if (assignment.expression() == null) {
            statement.cast(assignment.parameters().get(0), shape.type(columns.get(place)));
        } else {
            statement
                    .text("(")
                    .fragment(assignment.expression(), assignment.parameters())
                    .text(")");
        }
    }

    /** Returns the SQL text that a column is given, if it is not given a value. */
    Optional<String> expression(String column) {
        return Optional.ofNullable(assignments.get(columns.indexOf(column)).expression());
    }

    /** Returns the value of a column that has no expression, for a statement that sends the values of many rows as arrays. */
    @Nullable Object plain(String column) {
        return assignments.get(columns.indexOf(column)).parameters().get(0);
    }
}
