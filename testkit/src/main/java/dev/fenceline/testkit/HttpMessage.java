package dev.fenceline.testkit;

import java.io.ByteArrayOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.time.ZoneOffset;
import java.time.ZonedDateTime;
import java.time.format.DateTimeFormatter;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;

/**
 * A request or an answer of HTTP/1.1, read whole and passed on byte by byte. Only its framing is understood: the length that its
 * head tells, or chunks.
 */
final class HttpMessage {

    private static final String CONTINUE = "HTTP/1.1 100 Continue\r\n\r\n";
    private static final int LONGEST_HEAD = 256 * 1024;

    private final String startLine;
    private final Map<String, String> headers;
    private final byte[] body;

    /** The body as it is on the wire, chunks and all. */
    private HttpMessage(String startLine, Map<String, String> headers, byte[] body) {
        this.startLine = startLine;
        this.headers = headers;
        this.body = body;
    }

    /**
     * Reads a request; empty when the client has ended the connection. A client that waits for leave to send its body gets it here, and
     * so the server is not asked once more.
     */
    static Optional<HttpMessage> request(InputStream in, OutputStream toClient) throws IOException {
        String startLine = line(in);
        if (startLine.isEmpty()) {
            return Optional.empty();
        }
        Map<String, String> headers = headers(in);
        if ("100-continue".equalsIgnoreCase(headers.remove("expect"))) {
            toClient.write(CONTINUE.getBytes(StandardCharsets.US_ASCII));
            toClient.flush();
        }
        return Optional.of(new HttpMessage(startLine, headers, body(in, headers)));
    }

    /** Reads the answer to a request of the given method. */
    static HttpMessage answer(InputStream in, String method) throws IOException {
        String startLine = line(in);
        if (startLine.isEmpty()) {
            throw new EOFException("The server ended the connection instead of answering to " + method + ".");
        }
        Map<String, String> headers = headers(in);
        int status = status(startLine);
        boolean bodiless = method.equals("HEAD") || status == 204 || status == 304;
        return new HttpMessage(startLine, headers, bodiless ? new byte[0] : body(in, headers));
    }

    /** An answer as S3 gives it to a request that failed. */
    static HttpMessage error(int status, String code, String method) {
        String xml = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<Error><Code>" + code
                + "</Code><Message>An answer of the fault proxy.</Message></Error>";
        byte[] body = method.equals("HEAD") ? new byte[0] : xml.getBytes(StandardCharsets.UTF_8);
        Map<String, String> headers = new LinkedHashMap<>();
        headers.put("date", DateTimeFormatter.RFC_1123_DATE_TIME.format(ZonedDateTime.now(ZoneOffset.UTC)));
        headers.put("x-amz-request-id", "FAULTPROXY");
        headers.put("content-type", "application/xml");
        headers.put("content-length", Integer.toString(body.length));
        return new HttpMessage("HTTP/1.1 " + status + " " + code, headers, body);
    }

    String startLine() {
        return startLine;
    }

    Map<String, String> headers() {
        return Map.copyOf(headers);
    }

    int status() {
        return status(startLine);
    }

    /** As it is on the wire. */
    byte[] body() {
        return body.clone();
    }

    /** Whether the connection that this came over ends behind it. */
    boolean isLast() {
        return "close".equalsIgnoreCase(headers.get("connection"));
    }

    void writeTo(OutputStream out) throws IOException {
        StringBuilder head = new StringBuilder(startLine).append("\r\n");
        headers.forEach(
                (name, value) -> head.append(name).append(": ").append(value).append("\r\n"));
        ByteArrayOutputStream message = new ByteArrayOutputStream();
        message.writeBytes(head.append("\r\n").toString().getBytes(StandardCharsets.ISO_8859_1));
        message.writeBytes(body);
        message.writeTo(out);
        out.flush();
    }

    private static int status(String startLine) {
        return Integer.parseInt(startLine.split(" ", 3)[1]);
    }

    private static Map<String, String> headers(InputStream in) throws IOException {
        Map<String, String> headers = new LinkedHashMap<>();
        for (String line = line(in); !line.isEmpty(); line = line(in)) {
            int colon = line.indexOf(':');
            headers.merge(
                    line.substring(0, colon).toLowerCase(Locale.ROOT),
                    line.substring(colon + 1).strip(),
                    (first, more) -> first + "," + more);
        }
        return headers;
    }

    private static byte[] body(InputStream in, Map<String, String> headers) throws IOException {
        if ("chunked".equalsIgnoreCase(headers.get("transfer-encoding"))) {
            return chunks(in);
        }
        int length = Integer.parseInt(headers.getOrDefault("content-length", "0"));
        return exactly(in, length);
    }

    private static byte[] chunks(InputStream in) throws IOException {
        ByteArrayOutputStream raw = new ByteArrayOutputStream();
        int length;
        do {
            String size = line(in);
            raw.writeBytes((size + "\r\n").getBytes(StandardCharsets.ISO_8859_1));
            length = Integer.parseInt(size.split(";", 2)[0].strip(), 16);
            if (length > 0) {
                raw.writeBytes(exactly(in, length + 2));
            }
        } while (length > 0);
        String trailer;
        do {
            trailer = line(in);
            raw.writeBytes((trailer + "\r\n").getBytes(StandardCharsets.ISO_8859_1));
        } while (!trailer.isEmpty());
        return raw.toByteArray();
    }

    private static byte[] exactly(InputStream in, int length) throws IOException {
        byte[] bytes = in.readNBytes(length);
        if (bytes.length < length) {
            throw new EOFException("The body ended after " + bytes.length + " of " + length + " bytes.");
        }
        return bytes;
    }

    /** A line without its end; empty also at the end of the stream. */
    private static String line(InputStream in) throws IOException {
        ByteArrayOutputStream line = new ByteArrayOutputStream();
        for (int b = in.read(); b >= 0 && b != '\n'; b = in.read()) {
            if (b != '\r') {
                line.write(b);
            }
            if (line.size() > LONGEST_HEAD) {
                throw new IOException("A line of more than " + LONGEST_HEAD + " bytes; this is no HTTP.");
            }
        }
        return line.toString(StandardCharsets.ISO_8859_1);
    }
}
