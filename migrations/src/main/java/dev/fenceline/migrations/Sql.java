package dev.fenceline.migrations;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.sql.Array;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.List;
import java.util.Objects;

/** The statements in files of their own, and what is common to reading their answers. */
final class Sql {

    private Sql() {}

    static String resource(String name) {
        try (InputStream in = Objects.requireNonNull(Sql.class.getResourceAsStream(name), name)) {
            return new String(in.readAllBytes(), StandardCharsets.UTF_8);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    static List<String> texts(ResultSet row, int column) throws SQLException {
        Array array = row.getArray(column);
        return array == null ? List.of() : List.of((String[]) array.getArray());
    }

    /** The SQLSTATE, or nothing where the driver or a pool complains by itself. */
    static String state(SQLException e) {
        return Objects.requireNonNullElse(e.getSQLState(), "");
    }

    static String firstLine(SQLException e) {
        return Objects.requireNonNullElse(e.getMessage(), e.toString())
                .lines()
                .findFirst()
                .orElse("");
    }
}
