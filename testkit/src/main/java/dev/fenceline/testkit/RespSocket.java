package dev.fenceline.testkit;

import java.io.BufferedInputStream;
import java.io.ByteArrayOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

/** Speaks just enough of Redis's protocol to send one command, so that tests of a client need no second client. */
final class RespSocket implements AutoCloseable {

    private static final int TIMEOUT_MILLIS = 10_000;

    private final Socket socket;
    private final InputStream in;

    RespSocket(String host, int port) throws IOException {
        socket = new Socket();
        socket.connect(new InetSocketAddress(host, port), TIMEOUT_MILLIS);
        socket.setSoTimeout(TIMEOUT_MILLIS);
        in = new BufferedInputStream(socket.getInputStream());
    }

    /** Sends one command and reads its answer; an error of the server is an IllegalStateException. */
    String command(String... words) throws IOException {
        ByteArrayOutputStream request = new ByteArrayOutputStream();
        append(request, "*" + words.length + "\r\n");
        for (String word : words) {
            byte[] bytes = word.getBytes(StandardCharsets.UTF_8);
            append(request, "$" + bytes.length + "\r\n");
            request.writeBytes(bytes);
            append(request, "\r\n");
        }
        socket.getOutputStream().write(request.toByteArray());
        return reply();
    }

    private static void append(ByteArrayOutputStream out, String text) {
        out.writeBytes(text.getBytes(StandardCharsets.UTF_8));
    }

    private String reply() throws IOException {
        String head = line();
        String rest = head.substring(1);
        return switch (head.charAt(0)) {
            case '+', ':' -> rest;
            case '-' -> throw new IllegalStateException(rest);
            case '$' -> bulk(Integer.parseInt(rest));
            case '*' -> array(Integer.parseInt(rest));
            default -> throw new IOException("Not an answer of Redis: " + head);
        };
    }

    private String bulk(int length) throws IOException {
        if (length < 0) {
            return "";
        }
        byte[] bytes = in.readNBytes(length + 2);
        if (bytes.length < length + 2) {
            throw new EOFException("The connection ended inside an answer.");
        }
        return new String(bytes, 0, length, StandardCharsets.UTF_8);
    }

    private String array(int length) throws IOException {
        List<String> elements = new ArrayList<>();
        for (int i = 0; i < length; i++) {
            elements.add(reply());
        }
        return String.join("\n", elements);
    }

    private String line() throws IOException {
        ByteArrayOutputStream line = new ByteArrayOutputStream();
        for (int b = in.read(); b != '\n'; b = in.read()) {
            if (b < 0) {
                throw new EOFException("The connection ended instead of an answer.");
            }
            line.write(b);
        }
        String text = line.toString(StandardCharsets.UTF_8).stripTrailing();
        if (text.isEmpty()) {
            throw new IOException("Not an answer of Redis: an empty line.");
        }
        return text;
    }

    @Override
    public void close() throws IOException {
        socket.close();
    }
}
