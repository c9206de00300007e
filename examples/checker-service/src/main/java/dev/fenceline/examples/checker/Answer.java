package dev.fenceline.examples.checker;

import java.util.LinkedHashMap;
import java.util.Map;

/** An answer of one line of text. */
record Answer(int status, String text, Map<String, String> headers) {

    Answer {
        headers = Map.copyOf(headers);
    }

    static Answer of(int status, String text) {
        return new Answer(status, text, Map.of());
    }

    Answer header(String name, String value) {
        Map<String, String> more = new LinkedHashMap<>(headers);
        more.put(name, value);
        return new Answer(status, text, more);
    }
}
