package dev.fenceline.testkit;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * A network between a client and a server that fails where a test says: this request is lost, that reply is lost although
 * the request was carried out, the line is dead.
 *
 * <p>A fault is tied to a request by a marker, text that its bytes contain. It knows no protocol, so a marker must really be
 * on the wire: a client that prepares statements or scripts sends their text once and a short name from then on (pgjdbc even
 * for {@code COMMIT}, unless {@code prepareThreshold=0}).
 *
 * <p><b>Guarantees:</b> a fault is carried out for exactly one request. A lost, held or slow reply is one whose first bytes the
 * server has sent <em>after</em> it got the request, so the request was carried out; for this the request waits until the
 * server has been silent for {@value Link#SILENCE_MILLIS} ms.
 *
 * <p><b>Not guaranteed:</b> that one chunk is one request; a client that pipelines loses what it sent in the same chunk too.
 *
 * <p><b>Thread-safety:</b> any thread.
 */
public final class FaultProxy implements AutoCloseable {

    /** How a connection ends, towards the client and towards the server. */
    public enum Cut {
        /** In an orderly way: the other side reads the end of the stream. */
        FIN,
        /** By a reset: the other side gets an error, and what was on its way is lost. */
        RST
    }

    /** One fault, from the moment it is told to the proxy. */
    public interface Armed {

        /**
         * Waits until the fault has happened: the request was dropped or is held, the reply was lost or is held.
         *
         * @param limit how long to wait
         * @throws IllegalStateException when no request with the marker came in that time
         */
        void awaitFired(Duration limit);

        /**
         * Tells whether the fault has happened.
         *
         * @return true from then on
         */
        boolean fired();

        /** Ends the fault: what is held or delayed goes on its way; a fault that has not met its request never will. */
        void letGo();
    }

    private final InetSocketAddress server;
    private final int port;
    private final Set<Link> links = ConcurrentHashMap.newKeySet();
    private final List<Fault> faults = new CopyOnWriteArrayList<>();
    private final Gate line = new Gate();
    private @Nullable ServerSocket listener;
    private @Nullable Thread accepting;
    private boolean closed;

    private FaultProxy(InetSocketAddress server) {
        this.server = server;
        this.port = listen(FreePorts.next());
    }

    /**
     * Opens a proxy on a free port of the loopback address.
     *
     * @param host of the server
     * @param port of the server, which need not run yet
     * @return a proxy that forwards everything, so far
     */
    public static FaultProxy to(String host, int port) {
        return new FaultProxy(new InetSocketAddress(host, port));
    }

    /**
     * Returns the host that the client connects to.
     *
     * @return the loopback address
     */
    public String host() {
        return LocalRedis.HOST;
    }

    /**
     * Returns the port that the client connects to; the same one after {@link #refuse()} and {@link #heal()}.
     *
     * @return a TCP port
     */
    public int port() {
        return port;
    }

    /**
     * Chooses a request: the next one whose bytes contain the marker and that no earlier fault has taken.
     *
     * @param marker 1 to 1024 characters of ASCII, such as {@code INCR} or {@code COMMIT}
     * @return what can be done to it
     * @throws IllegalArgumentException when the marker is empty or too long
     */
    public OnRequest onRequest(String marker) {
        if (marker.isEmpty() || marker.length() > Link.LONGEST_MARKER) {
            throw new IllegalArgumentException(
                    "A marker of " + marker.length() + " characters; 1 to " + Link.LONGEST_MARKER + " are looked for.");
        }
        return new OnRequest(marker.getBytes(StandardCharsets.US_ASCII), marker);
    }

    /** What can be done to a request. Nothing happens until one of these is called. */
    public final class OnRequest {

        private final byte[] bytes;
        private final String marker;

        private OnRequest(byte[] bytes, String marker) {
            this.bytes = bytes;
            this.marker = marker;
        }

        /**
         * The server never gets the request.
         *
         * @param cut how the connection ends then
         * @return the fault
         */
        public Armed dropRequest(Cut cut) {
            return arm(fault -> new Fault.Step(Fault.Place.REQUEST, link -> {
                fault.fire(); // first: whoever sees the cut finds the fault fired
                link.cut(cut);
            }));
        }

        /**
         * The server carries the request out, and the client never learns of it.
         *
         * @param cut how the connection ends then
         * @return the fault
         */
        public Armed loseReply(Cut cut) {
            return arm(fault -> new Fault.Step(Fault.Place.REPLY, link -> {
                fault.fire(); // first: whoever sees the cut finds the fault fired
                link.cut(cut);
            }));
        }

        /**
         * The request stays on its way until {@link Armed#letGo()}, and whatever follows on the connection behind it. It reaches
         * the server even if the client has gone by then.
         *
         * @return the fault
         */
        public Armed holdRequest() {
            return arm(fault -> new Fault.Step(Fault.Place.REQUEST, link -> link.hold(fault)));
        }

        /**
         * The server carries the request out; its reply stays on its way until {@link Armed#letGo()}.
         *
         * @return the fault
         */
        public Armed holdReply() {
            return arm(fault -> new Fault.Step(Fault.Place.REPLY, link -> {
                fault.fire();
                fault.awaitLetGo();
            }));
        }

        /**
         * The server carries the request out; its reply takes its time.
         *
         * @param delay how long; {@link Armed#letGo()} ends it early
         * @return the fault
         */
        public Armed delayReply(Duration delay) {
            return arm(fault -> new Fault.Step(Fault.Place.REPLY, link -> {
                fault.fire();
                fault.awaitLetGo(delay);
            }));
        }

        private Armed arm(Function<Fault, Fault.Step> step) {
            Fault fault = new Fault(bytes, marker, step);
            faults.add(fault);
            return fault;
        }
    }

    /**
     * The line goes dead: connections are accepted and stay open, nothing is forwarded, nothing is answered. What is sent
     * meanwhile arrives after {@link #heal()}, as TCP would send it again.
     */
    public void blackhole() {
        line.close();
    }

    /**
     * Ends all open connections now; new ones are served. A request that is held keeps its connection to the server, and only
     * the client's side ends: so a client fails while its request is still on its way.
     *
     * @param cut how
     */
    public void cutAll(Cut cut) {
        links.forEach(link -> link.cut(cut));
    }

    /** Stops listening, so that connecting fails at once, and resets all open connections. */
    public void refuse() {
        stopListening();
        cutAll(Cut.RST);
    }

    /** Ends every fault: listens again, forwards again, lets go what is held and forgets faults that have not happened. */
    public synchronized void heal() {
        faults.forEach(Fault::letGo);
        faults.clear();
        line.open();
        if (listener == null && !closed) {
            listen(port);
        }
    }

    /**
     * Counts the connections that clients have open.
     *
     * @return zero or more
     */
    public int connections() {
        return links.size();
    }

    /** Stops listening and resets all connections. Idempotent. */
    @Override
    public void close() {
        synchronized (this) {
            closed = true;
            heal();
        }
        stopListening();
        cutAll(Cut.RST);
    }

    private synchronized int listen(int wanted) {
        try {
            ServerSocket socket = new ServerSocket();
            socket.setReuseAddress(true);
            socket.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), wanted));
            listener = socket;
            accepting = start("accept", () -> accept(socket));
            return socket.getLocalPort();
        } catch (IOException e) {
            throw new UncheckedIOException("The fault proxy cannot listen on port " + wanted + ".", e);
        }
    }

    /**
     * Returns when nobody can connect any more. The port listens on until the thread that accepts there has left its socket,
     * and that thread may be waiting for our monitor, so its end is awaited outside of it.
     */
    private void stopListening() {
        Thread last;
        synchronized (this) {
            last = accepting;
            try {
                if (listener != null) {
                    listener.close();
                    listener = null;
                }
            } catch (IOException e) {
                throw new UncheckedIOException("The fault proxy cannot stop listening on port " + port + ".", e);
            }
        }
        if (last != null) {
            Polling.until(
                    "the fault proxy stops listening on port " + port, Duration.ofSeconds(10), () -> !last.isAlive());
        }
    }

    private void accept(ServerSocket socket) {
        while (!socket.isClosed()) {
            try {
                Link link = new Link(socket.accept(), this);
                if (!admit(link, socket)) {
                    link.cut(Cut.RST);
                }
            } catch (IOException e) {
                return; // closed by refuse() or close()
            }
        }
    }

    /** A connection that was accepted just before {@link #refuse()} must not be added behind its cut. */
    private synchronized boolean admit(Link link, ServerSocket from) {
        if (listener != from) {
            return false;
        }
        links.add(link);
        start("requests", link::carryRequests);
        return true;
    }

    Thread start(String purpose, Runnable work) {
        Thread thread = new Thread(work, "fault-proxy-" + port + "-" + purpose);
        thread.setDaemon(true);
        thread.start();
        return thread;
    }

    /** Returns the fault that waits for this request, which is no other request's from now on. */
    Optional<Fault> faultFor(byte[] window, int fresh, int length) {
        return faults.stream()
                .filter(fault -> fault.takes(window, fresh, length))
                .findFirst();
    }

    void awaitLine() {
        line.await();
    }

    Socket connect() throws IOException {
        Socket socket = new Socket();
        socket.connect(server, 10_000);
        socket.setTcpNoDelay(true);
        return socket;
    }

    void ended(Link link) {
        links.remove(link);
    }

    @Override
    public String toString() {
        return "fault proxy on port " + port + " to " + server;
    }
}
