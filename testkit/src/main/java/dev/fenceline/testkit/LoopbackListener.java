package dev.fenceline.testkit;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/** Accepts connections on a free port of the loopback address, carries each in a thread of its own, and ends them all. */
final class LoopbackListener implements AutoCloseable {

    /** What is done with a connection. Returns when it is over; a client or a server that goes away is no failure. */
    interface Carrier {
        void carry(Socket client) throws IOException;
    }

    private final String name;
    private final Carrier carrier;
    private final ServerSocket listener;
    private final Thread accepting;
    private final Set<Socket> sockets = ConcurrentHashMap.newKeySet();

    /**
     * Listens from now on.
     *
     * @param name of the threads, and in messages
     */
    LoopbackListener(String name, Carrier carrier) {
        this.name = name;
        this.carrier = carrier;
        try {
            listener = new ServerSocket(FreePorts.next(), 0, InetAddress.getLoopbackAddress());
        } catch (IOException e) {
            throw new UncheckedIOException("The " + name + " cannot listen.", e);
        }
        accepting = start("accept", this::accept);
    }

    int port() {
        return listener.getLocalPort();
    }

    private void accept() {
        while (!listener.isClosed()) {
            try {
                Socket client = listener.accept();
                sockets.add(client);
                start("link", () -> carry(client));
            } catch (IOException e) {
                return; // closed by close()
            }
        }
    }

    private void carry(Socket client) {
        try (client) {
            if (!listener.isClosed()) { // else accepted while all others were ended
                client.setTcpNoDelay(true);
                carrier.carry(client);
            }
        } catch (IOException e) {
            return; // one side has gone; whoever is left sees the end of its connection
        } finally {
            sockets.remove(client);
        }
    }

    private Thread start(String purpose, Runnable work) {
        Thread thread = new Thread(work, name.replace(' ', '-') + "-" + port() + "-" + purpose);
        thread.setDaemon(true);
        thread.start();
        return thread;
    }

    /** Stops listening and ends all connections of clients. Idempotent. */
    @Override
    public void close() {
        try {
            listener.close();
            for (Socket socket : sockets) {
                socket.close();
            }
        } catch (IOException e) {
            throw new UncheckedIOException("The " + name + " on port " + port() + " was not closed.", e);
        }
        Polling.until(
                name + " on port " + port() + " stops listening", Duration.ofSeconds(10), () -> !accepting.isAlive());
    }
}
