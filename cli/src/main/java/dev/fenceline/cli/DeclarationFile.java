package dev.fenceline.cli;

import com.fasterxml.jackson.core.JsonLocation;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.JsonToken;
import com.fasterxml.jackson.dataformat.yaml.YAMLFactory;
import com.fasterxml.jackson.dataformat.yaml.YAMLParser;
import java.io.IOException;
import java.nio.charset.MalformedInputException;
import java.nio.file.AccessDeniedException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;

/**
 * Reads fenceline.yaml, token by token, so that every complaint has a line and a column:
 *
 * <pre>{@code
 * tables:
 *   - table: app.order
 *     lock: order
 *     key: [id]
 *     mode: observe
 * }</pre>
 */
final class DeclarationFile {

    private final Path file;
    private final YAMLParser parser;

    private DeclarationFile(Path file, YAMLParser parser) {
        this.file = file;
        this.parser = parser;
    }

    static List<Declared> read(Path file) {
        String text;
        try {
            text = Files.readString(file);
        } catch (NoSuchFileException e) {
            throw Failure.usage(
                    "The file " + file + " does not exist. It lists the tables to protect; see docs/cli.md.");
        } catch (AccessDeniedException e) {
            throw Failure.usage("The file " + file + " may not be read by this user.");
        } catch (MalformedInputException e) {
            throw Failure.usage("The file " + file + " is no text in UTF-8.");
        } catch (IOException e) {
            throw Failure.usage("The file " + file + " cannot be read: it is no ordinary file, or its disk fails.");
        }
        try (YAMLParser parser = new YAMLFactory().createParser(text)) {
            return new DeclarationFile(file, parser).document();
        } catch (JsonProcessingException e) {
            throw wrong(file, e.getLocation(), "this is no YAML: " + Texts.oneLine(firstLine(e.getOriginalMessage())));
        } catch (IOException e) {
            throw new IllegalStateException("A text cannot fail to be read.", e);
        }
    }

    private List<Declared> document() throws IOException {
        if (parser.nextToken() != JsonToken.START_OBJECT) {
            throw wrong("the file is to begin with 'tables:'");
        }
        List<Declared> tables = new ArrayList<>();
        Set<String> seen = new HashSet<>();
        while (parser.nextToken() == JsonToken.FIELD_NAME) {
            String name = fieldName(seen);
            if (!name.equals("tables")) {
                throw wrong("unknown key '" + name + "'; the one key here is 'tables'");
            }
            if (parser.nextToken() != JsonToken.START_ARRAY) {
                throw wrong("'tables' is to be a list, each entry of which begins with '- table:'");
            }
            while (parser.nextToken() != JsonToken.END_ARRAY) {
                tables.add(table());
            }
        }
        if (parser.nextToken() != null) {
            throw wrong("a second document begins here; one is read");
        }
        if (tables.isEmpty()) {
            throw wrong("it lists no table");
        }
        return tables;
    }

    private Declared table() throws IOException {
        JsonLocation at = parser.currentTokenLocation();
        if (parser.currentToken() != JsonToken.START_OBJECT) {
            throw wrong("an entry is to begin with '- table:'");
        }
        Set<String> seen = new HashSet<>();
        Optional<String> table = Optional.empty();
        Optional<String> lock = Optional.empty();
        Optional<List<String>> key = Optional.empty();
        Mode mode = Mode.OBSERVE;
        while (parser.nextToken() == JsonToken.FIELD_NAME) {
            JsonLocation here = parser.currentTokenLocation();
            String name = fieldName(seen);
            parser.nextToken();
            switch (name) {
                case "table" -> table = Optional.of(text(name));
                case "lock" -> lock = Optional.of(text(name));
                case "key" -> key = Optional.of(columns());
                case "mode" -> mode = mode();
                default ->
                    throw wrong(
                            file, here, "unknown key '" + name + "'; a table has 'table', 'lock', 'key' and 'mode'");
            }
        }
        return new Declared(
                table.orElseThrow(() -> missing(at, "table")),
                lock.orElseThrow(() -> missing(at, "lock")),
                key.orElseThrow(() -> missing(at, "key")),
                Optional.of(mode),
                file + ", line " + at.getLineNr());
    }

    private String fieldName(Set<String> seen) throws IOException {
        String name = Objects.requireNonNull(parser.currentName());
        if (!seen.add(name)) {
            throw wrong("key '" + name + "' is there twice");
        }
        return name;
    }

    private String text(String name) throws IOException {
        JsonToken token = parser.currentToken();
        String value =
                token != null && token.isScalarValue() && token != JsonToken.VALUE_NULL && !parser.isCurrentAlias()
                        ? parser.getText().strip()
                        : "";
        if (value.isEmpty()) {
            throw wrong("'" + name + "' is to be a text");
        }
        return value;
    }

    private List<String> columns() throws IOException {
        if (parser.currentToken() != JsonToken.START_ARRAY) {
            throw wrong("'key' is to be a list of columns, such as [id]; with [] one lock covers all rows");
        }
        List<String> columns = new ArrayList<>();
        while (parser.nextToken() != JsonToken.END_ARRAY) {
            columns.add(text("key"));
        }
        return columns;
    }

    private Mode mode() throws IOException {
        String word = text("mode");
        for (Mode mode : Mode.values()) {
            if (mode.toString().equals(word)) {
                return mode;
            }
        }
        throw wrong("mode '" + word + "' is neither observe nor enforce");
    }

    private Failure missing(JsonLocation at, String name) {
        return wrong(file, at, "this table has no '" + name + "'");
    }

    private Failure wrong(String what) {
        return wrong(file, parser.currentTokenLocation(), what);
    }

    private static Failure wrong(Path file, JsonLocation at, String what) {
        return Failure.usage(file + ", line " + at.getLineNr() + ", column " + at.getColumnNr() + ": " + what + ".");
    }

    private static String firstLine(String text) {
        return text.lines().findFirst().orElse("").strip();
    }
}
