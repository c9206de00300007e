package dev.fenceline.bench;

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

/**
 * Makes sockets for the PostgreSQL driver and counts how often something was sent and then an answer read. Named in a URL, hence public;
 * never on a connection that is timed.
 */
public final class RoundTrips extends SocketFactory {

    private static final AtomicLong COUNTED = new AtomicLong();

    static long counted() {
        return COUNTED.get();
    }

    @Override
    public Socket createSocket() {
        return new Counting();
    }

    @Override
    public Socket createSocket(String host, int port) throws IOException {
        throw unconnected();
    }

    @Override
    public Socket createSocket(String host, int port, InetAddress localHost, int localPort) throws IOException {
        throw unconnected();
    }

    @Override
    public Socket createSocket(InetAddress host, int port) throws IOException {
        throw unconnected();
    }

    @Override
    public Socket createSocket(InetAddress address, int port, InetAddress localAddress, int localPort)
            throws IOException {
        throw unconnected();
    }

    private static IOException unconnected() {
        return new IOException("The driver asks for sockets that are not connected yet.");
    }

    private static final class Counting extends Socket {

        private final AtomicBoolean asked = new AtomicBoolean();

        @Override
        public OutputStream getOutputStream() throws IOException {
            return new FilterOutputStream(super.getOutputStream()) {
                @Override
                public void write(byte[] bytes, int offset, int length) throws IOException {
                    asked.set(true);
                    out.write(bytes, offset, length);
                }
            };
        }

        @Override
        public InputStream getInputStream() throws IOException {
            return new FilterInputStream(super.getInputStream()) {
                @Override
                public int read(byte[] bytes, int offset, int length) throws IOException {
                    if (asked.compareAndSet(true, false)) {
                        COUNTED.incrementAndGet();
                    }
                    return in.read(bytes, offset, length);
                }
            };
        }
    }
}
