package dev.fenceline.testkit;

import java.io.BufferedInputStream;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.Socket;
import org.jspecify.annotations.Nullable;

/** One request of a client's connection through a {@link S3FaultProxy}, and its answer. */
final class S3Exchange {

    private static final int CONNECT_MILLIS = 10_000;

    private final HttpMessage message;
    private final S3Request request;
    private final Socket client;
    private final InetSocketAddress server;
    private @Nullable HttpMessage answer;
    private boolean last;

    S3Exchange(HttpMessage message, Socket client, InetSocketAddress server) {
        this.message = message;
        this.request = S3Request.of(message);
        this.client = client;
        this.server = server;
    }

    S3Request request() {
        return request;
    }

    /** Whether the client's connection has ended, or ends here. */
    boolean isLast() {
        return last;
    }

    /** The server carries the request out, over a connection of its own: one that was kept could have been ended meanwhile. */
    int forward() throws IOException {
        try (Socket socket = new Socket()) {
            socket.setTcpNoDelay(true);
            socket.connect(server, CONNECT_MILLIS);
            message.writeTo(socket.getOutputStream());
            HttpMessage received =
                    HttpMessage.answer(new BufferedInputStream(socket.getInputStream()), request.method());
            answer = received;
            return received.status();
        }
    }

    /** The client gets the server's answer. */
    void reply() throws IOException {
        if (answer == null) {
            throw new IllegalStateException("The server was not asked: " + request + ".");
        }
        reply(answer);
    }

    void reply(HttpMessage other) throws IOException {
        last |= other.isLast();
        other.writeTo(client.getOutputStream());
    }

    void cut(FaultProxy.Cut cut) throws IOException {
        last = true;
        if (cut == FaultProxy.Cut.RST) {
            client.setSoLinger(true, 0);
        }
        client.close();
    }
}
