package dev.fenceline.jdbc;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * The text of one statement of row mode, with its arguments in order. No text of ours holds a '&lt;': Jdbi's default template engine
 * takes that for the beginning of an attribute.
 */
final class RowStatement {

    /** How a parameter is written. */
    enum Placeholder {
        /** A question mark, as JDBC has it. */
        MARK,
        /** A colon and a name of ours, as Jdbi has it. */
        NAME
    }

    /** Many values as one argument. */
    record Values(String elementType, List<@Nullable Object> elements) {}

    private final Placeholder placeholder;
    private final StringBuilder sql = new StringBuilder();
    private final List<@Nullable Object> arguments = new ArrayList<>();
    private @Nullable ColumnValues values;
    private boolean counting;

    RowStatement(Placeholder placeholder) {
        this.placeholder = placeholder;
    }

    RowStatement text(String text) {
        sql.append(text);
        return this;
    }

    RowStatement parameter(@Nullable Object argument) {
        sql.append(placeholder == Placeholder.MARK ? "?" : ":" + name(arguments.size()));
        arguments.add(argument);
        return this;
    }

    /** A parameter of a column's type, or just a parameter where there is no such column. */
    RowStatement cast(@Nullable Object argument, Optional<String> type) {
        return type.isEmpty()
                ? parameter(argument)
                : text("CAST(").parameter(argument).text(" AS " + type.get() + ")");
    }

    /** Text of the user's, whose parameters are in it already. */
    RowStatement fragment(String text, List<@Nullable Object> itsArguments) {
        sql.append(text);
        arguments.addAll(itsArguments);
        return this;
    }

    /** Appends an expression, and remembers whose it is, for values that bind parameters by themselves. */
    RowStatement value(ColumnValues of, int place, TableShape shape) {
        values = of;
        of.appendTo(this, place, shape);
        return this;
    }

    /** Says that the statement returns the number of rows as its result. */
    RowStatement counting() {
        counting = true;
        return this;
    }

    String sql() {
        return sql.toString();
    }

    List<@Nullable Object> arguments() {
        return arguments;
    }

    Optional<ColumnValues> values() {
        return Optional.ofNullable(values);
    }

    boolean isCounting() {
        return counting;
    }

    static String name(int argument) {
        return "fenceline_" + argument;
    }
}
