package dev.fenceline.jdbc;

import java.io.FilterInputStream;
import java.io.FilterOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.Socket;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import javax.net.SocketFactory;

/** Sockets for the driver that count how often it waits for an answer to something that it sent. */
public final class CountedSocketFactory extends SocketFactory {

    private static final AtomicLong ROUND_TRIPS = new AtomicLong();

    static long roundTrips() {
        return ROUND_TRIPS.get();
    }

    @Override
    public Socket createSocket() {
        return new CountedSocket();
    }

    @Override
    public Socket createSocket(String host, int port) {
        throw new IllegalStateException("The driver connects by itself");
    }

    @Override
    public Socket createSocket(String host, int port, InetAddress localHost, int localPort) {
        throw new IllegalStateException("The driver connects by itself");
    }

    @Override
    public Socket createSocket(InetAddress host, int port) {
        throw new IllegalStateException("The driver connects by itself");
    }

    @Override
    public Socket createSocket(InetAddress address, int port, InetAddress localAddress, int localPort) {
        throw new IllegalStateException("The driver connects by itself");
    }

    private static final class CountedSocket extends Socket {

        private final AtomicBoolean sent = new AtomicBoolean();

        @Override
        public OutputStream getOutputStream() throws IOException {
            return new FilterOutputStream(super.getOutputStream()) {
                @Override
                public void write(byte[] bytes, int from, int length) throws IOException {
                    sent.set(true);
                    out.write(bytes, from, length);
                }
            };
        }

        @Override
        public InputStream getInputStream() throws IOException {
            return new FilterInputStream(super.getInputStream()) {
                @Override
                public int read(byte[] bytes, int from, int length) throws IOException {
                    if (sent.getAndSet(false)) {
                        ROUND_TRIPS.incrementAndGet();
                    }
                    return super.read(bytes, from, length);
                }
            };
        }
    }
}
