package dev.fenceline.cli;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.ObjectWriter;
import com.fasterxml.jackson.databind.SerializationFeature;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** The one document that {@code --json} prints. */
final class Json {

    private static final ObjectWriter WRITER = new ObjectMapper()
            .configure(SerializationFeature.ORDER_MAP_ENTRIES_BY_KEYS, false)
            .writerWithDefaultPrettyPrinter();

    private Json() {}

    static String document(String command, Outcome outcome, Map<String, @Nullable Object> fields) {
        Map<String, @Nullable Object> document = new LinkedHashMap<>();
        document.put("command", command);
        document.put("outcome", outcome.toString());
        document.put("exitCode", outcome.exitCode());
        document.putAll(fields);
        try {
            return WRITER.writeValueAsString(document);
        } catch (JsonProcessingException e) {
            throw new IllegalStateException("A report of " + command + " cannot be written as JSON.", e);
        }
    }

    /** An object with fields in the order given: name, value, name, value. */
    static Map<String, @Nullable Object> object(@Nullable Object... namesAndValues) {
        Map<String, @Nullable Object> object = new LinkedHashMap<>();
        for (int i = 0; i < namesAndValues.length; i += 2) {
            Object value = namesAndValues[i + 1];
            object.put(
                    String.valueOf(namesAndValues[i]), value instanceof Instant instant ? instant.toString() : value);
        }
        return object;
    }
}
