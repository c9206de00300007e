package dev.fenceline.testkit;

import java.io.BufferedInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Stands in front of a store that keeps no history, and keeps that of the keys that are watched. It changes nothing: each connection
 * of a client is one to the store, and requests on several are as much at the same time as they were.
 *
 * <p>A write is recorded when the store has answered to it, before its client gets that answer, and also if its client has gone. Writes
 * of one key whose answers come at the same moment may be recorded in another order than they were decided in.
 */
final class S3Recorder implements AutoCloseable {

    private final InetSocketAddress server;
    private final LoopbackListener listener;
    private final Map<String, S3History> histories = new ConcurrentHashMap<>();

    S3Recorder(URI server) {
        this.server = new InetSocketAddress(server.getHost(), server.getPort());
        this.listener = new LoopbackListener("recorder of S3", this::carry);
    }

    URI endpoint() {
        return URI.create("http://" + LocalRedis.HOST + ":" + listener.port());
    }

    S3History watch(String bucket, String key) {
        return histories.computeIfAbsent(name(bucket, key), any -> new S3History());
    }

    /** A bucket's name has no slash, so no two objects share a name. */
    private static String name(String bucket, String key) {
        return bucket + "/" + key;
    }

    private void carry(Socket client) throws IOException {
        try (Socket store = new Socket()) {
            store.setTcpNoDelay(true);
            store.connect(server);
            carry(client, store);
        }
    }

    private void carry(Socket client, Socket store) throws IOException {
        InputStream requests = new BufferedInputStream(client.getInputStream());
        InputStream answers = new BufferedInputStream(store.getInputStream());
        boolean last = false;
        while (!last) {
            Optional<HttpMessage> message = HttpMessage.request(requests, client.getOutputStream());
            if (message.isEmpty()) {
                return;
            }
            S3Request request = S3Request.of(message.get());
            message.get().writeTo(store.getOutputStream());
            HttpMessage answer = HttpMessage.answer(answers, request.method());
            record(request, message.get(), answer.status());
            answer.writeTo(client.getOutputStream());
            last = message.get().isLast() || answer.isLast();
        }
    }

    private void record(S3Request request, HttpMessage message, int status) {
        S3History history = histories.get(name(request.bucket(), request.key()));
        if (history != null && request.method().equals("PUT") && status == 200) {
            boolean framed = request.header("x-amz-content-sha256").orElse("").startsWith("STREAMING-");
            history.add(framed ? unframed(message.body()) : message.body());
        }
    }

    /** Takes a body out of the frames in which a client signs it piece by piece: a size in hexadecimal digits, what belongs to it, the piece. */
    static byte[] unframed(byte[] frames) {
        ByteArrayOutputStream body = new ByteArrayOutputStream();
        int at = 0;
        while (true) {
            int end = at;
            while (frames[end] != '\r') {
                end++;
            }
            String size = new String(frames, at, end - at, StandardCharsets.US_ASCII);
            int length = Integer.parseInt(size.split(";", 2)[0], 16);
            if (length == 0) {
                return body.toByteArray();
            }
            body.write(frames, end + 2, length);
            at = end + 2 + length + 2;
        }
    }

    @Override
    public void close() {
        listener.close();
    }

    @Override
    public String toString() {
        return "recorder of S3 on port " + listener.port() + " in front of " + server;
    }
}
