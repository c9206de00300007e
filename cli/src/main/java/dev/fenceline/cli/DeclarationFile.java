package dev.fenceline.cli;

import com.fasterxml.jackson.core.JsonLocation;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.JsonToken;
import com.fasterxml.jackson.dataformat.yaml.YAMLFactory;
import com.fasterxml.jackson.dataformat.yaml.YAMLParser;
import com.fasterxml.jackson.dataformat.yaml.snakeyaml.error.Mark;
import com.fasterxml.jackson.dataformat.yaml.snakeyaml.error.MarkedYAMLException;
import dev.fenceline.migrations.Protect;
import dev.fenceline.migrations.TableName;
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
import java.util.function.Consumer;

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

    /** A table whose locks and key can be tried. */
    private static final Protect.Table ANY = Protect.table(new TableName("public", "any"));

    private final Path file;
    private final YAMLParser parser;

    private DeclarationFile(Path file, YAMLParser parser) {
        this.file = file;
        this.parser = parser;
    }

    /** What there is at least one of, for commands that do something to each. */
    static List<Declared> some(Path file) {
        List<Declared> tables = read(file);
        if (tables.isEmpty()) {
            throw Failure.usage("The file " + file + " lists no table, so there is nothing to do. It lists them as "
                    + TableOptions.EXAMPLE);
        }
        return tables;
    }

    static List<Declared> read(Path file) {
        String text;
        try {
            text = Files.readString(file);
        } catch (NoSuchFileException e) {
            throw Failure.usage(
                    "The file " + file + " does not exist. It lists the tables to protect: " + TableOptions.EXAMPLE);
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
            throw noYaml(file, e);
        } catch (IOException e) {
            throw new IllegalStateException("A text cannot fail to be read.", e);
        }
    }

    /** The parser's own place is that of the last token it has understood, which may be lines before. */
    @SuppressWarnings(
            "deprecation") // nothing else of Jackson's names the place, and what is beneath it is no dependency of ours
    private static Failure noYaml(Path file, JsonProcessingException e) {
        if (!(e instanceof MarkedYAMLException marked)) {
            JsonLocation at = e.getLocation();
            return wrong(
                    file, at.getLineNr(), at.getColumnNr(), "this is no YAML: " + firstLine(e.getOriginalMessage()));
        }
        String problem = firstLine(marked.getProblem());
        // What is never closed is complained of at the end of the file.
        Mark at = problem.contains("end of stream") && marked.getContextMark() != null
                ? marked.getContextMark()
                : marked.getProblemMark();
        String said;
        if (problem.contains("(TAB)")) {
            said = "a tab stands where YAML wants blanks";
        } else if (problem.startsWith("expected <block end>")) {
            said = "this line is indented neither as one above it nor deeper than what it belongs to";
        } else if (problem.startsWith("mapping values are not allowed")) {
            said = "no key can begin here: mind the indentation, and quote a text that holds a colon";
        } else {
            said = "this is no YAML: " + problem;
        }
        return wrong(file, at.getLine() + 1, at.getColumn() + 1, said);
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
        if (seen.isEmpty()) {
            throw wrong("it lists no table; that none is protected reads 'tables: []'");
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
                case "table" -> table = Optional.of(fitting(text(name), TableName::parse));
                case "lock" ->
                    lock = Optional.of(
                            fitting(text(name), lockClass -> ANY.lock(lockClass).observe()));
                case "key" -> key = Optional.of(columns());
                case "mode" -> mode = mode();
                default ->
                    throw wrong(
                            file, here, "unknown key '" + name + "'; a table has 'table', 'lock', 'key' and 'mode'");
            }
        }
        if (table.isEmpty() || lock.isEmpty() || key.isEmpty()) {
            // Where the rest is indented otherwise, that is what is wrong, and the parser says so at the next token.
            parser.nextToken();
        }
        return new Declared(
                table.orElseThrow(() -> missing(at, "table")),
                lock.orElseThrow(() -> missing(at, "lock")),
                key.orElseThrow(() -> missing(at, "key")),
                Optional.of(mode),
                place(file, at.getLineNr(), at.getColumnNr()));
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

    /** What this release refuses is complained of where it stands. */
    private String fitting(String value, Consumer<String> check) throws IOException {
        JsonLocation at = parser.currentTokenLocation();
        try {
            check.accept(value);
            return value;
        } catch (IllegalArgumentException e) {
            // A line that is indented too far is taken for more of this text, until its colon; then that is what is
            // wrong.
            parser.nextToken();
            throw wrong(file, at, String.valueOf(e.getMessage()));
        }
    }

    private List<String> columns() throws IOException {
        if (parser.currentToken() != JsonToken.START_ARRAY) {
            throw wrong("'key' is to be a list of columns, such as [id]; with [] one lock covers all rows");
        }
        List<String> columns = new ArrayList<>();
        while (parser.nextToken() != JsonToken.END_ARRAY) {
            columns.add(fitting(text("key"), column -> ANY.lock("any", column).observe()));
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
        return wrong(file, at.getLineNr(), at.getColumnNr(), what);
    }

    private static Failure wrong(Path file, int line, int column, String what) {
        return Failure.usage(place(file, line, column) + ": " + Texts.sentence(what));
    }

    private static String place(Path file, int line, int column) {
        return file + ", line " + line + ", column " + column;
    }

    private static String firstLine(String text) {
        return text.lines().findFirst().orElse("").strip();
    }
}
