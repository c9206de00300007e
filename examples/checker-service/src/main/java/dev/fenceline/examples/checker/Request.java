package dev.fenceline.examples.checker;

import com.sun.net.httpserver.HttpExchange;
import dev.fenceline.FencingToken;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * What a caller wants, checked before anything is asked of the database.
 *
 * @param cents the balance to be; what it was, for a request that reads
 */
record Request(long account, boolean reads, FencingToken token, long cents) {

    private static final String TOKEN = "Fencing-Token";
    private static final int LONGEST_BODY = 20;
    private static final Pattern PATH = Pattern.compile("/accounts/([0-9]{1,18})");
    private static final Pattern CENTS = Pattern.compile("[0-9]{1,18}");

    static Request read(HttpExchange exchange) throws IOException {
        Matcher path = PATH.matcher(exchange.getRequestURI().getPath());
        if (!path.matches()) {
            throw new Unusable(Answer.of(404, "not found: accounts are at /accounts/NUMBER."));
        }
        String method = exchange.getRequestMethod();
        if (!method.equals("GET") && !method.equals("PUT")) {
            throw new Unusable(
                    Answer.of(405, "method not allowed: GET reads, PUT writes.").header("Allow", "GET, PUT"));
        }
        boolean reads = method.equals("GET");
        return new Request(Long.parseLong(path.group(1)), reads, token(exchange), reads ? 0 : cents(exchange));
    }

    private static FencingToken token(HttpExchange exchange) {
        List<String> sent = exchange.getRequestHeaders().getOrDefault(TOKEN, List.of());
        if (sent.size() != 1) {
            throw new Unusable(Answer.of(
                    400, "malformed: one header " + TOKEN + " is needed, and " + sent.size() + " were sent."));
        }
        try {
            return FencingToken.parse(sent.get(0));
        } catch (IllegalArgumentException e) {
            throw new Unusable(Answer.of(400, "malformed: " + e.getMessage()));
        }
    }

    private static long cents(HttpExchange exchange) throws IOException {
        byte[] body = exchange.getRequestBody().readNBytes(LONGEST_BODY + 1);
        if (body.length > LONGEST_BODY) {
            throw new Unusable(
                    Answer.of(413, "too large: the body is a number of cents, of at most " + LONGEST_BODY + " bytes."));
        }
        String text = new String(body, StandardCharsets.US_ASCII).strip();
        if (!CENTS.matcher(text).matches()) {
            throw new Unusable(Answer.of(400, "malformed: the body is a number of cents, of at most 18 digits."));
        }
        return Long.parseLong(text);
    }
}
