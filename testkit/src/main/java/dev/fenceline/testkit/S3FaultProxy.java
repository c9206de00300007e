package dev.fenceline.testkit;

import java.io.BufferedInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.URI;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Predicate;

/**
 * A network between an S3 client and its store that fails where a test says, and counts. Unlike {@link FaultProxy} it reads HTTP: a
 * fault is tied to the method and the key of a request, and an answer can be another than the store's.
 *
 * <p><b>Guarantees:</b> a fault happens to one request, the first or the {@linkplain OnRequest#nth nth} that is met, unless it is
 * armed for {@linkplain OnRequest#each() each}. A request that is held reaches the store when it is let go, even if its client
 * has gone. A request is counted before the store gets it.
 *
 * <p><b>Not guaranteed:</b> the connections' own behaviour, such as their reuse: each request goes to the store over a connection of
 * its own, and whole.
 *
 * <p><b>Thread-safety:</b> any thread.
 */
public final class S3FaultProxy implements AutoCloseable {

    /** One fault, from the moment it is told to the proxy. */
    public interface Armed extends FaultProxy.Armed {

        /**
         * Waits until the store has answered to the request that the fault met, or to all of them; whether the client gets an answer is
         * another matter.
         *
         * @param limit how long to wait
         * @return the status of the store's last answer, such as 200 or 412
         * @throws IllegalStateException when the store has not answered in that time
         */
        int awaitAnswer(Duration limit);
    }

    private final InetSocketAddress server;
    private final LoopbackListener listener;
    private final List<S3Fault> faults = new CopyOnWriteArrayList<>();
    private final List<S3Request> requests = new CopyOnWriteArrayList<>();

    private S3FaultProxy(InetSocketAddress server) {
        this.server = server;
        this.listener = new LoopbackListener("fault proxy for S3", this::carry);
    }

    /**
     * Opens a proxy on a free port of the loopback address.
     *
     * @param server where the requests go
     * @return a proxy that forwards everything, so far
     */
    public static S3FaultProxy to(S3Server server) {
        URI endpoint = server.endpoint();
        return new S3FaultProxy(new InetSocketAddress(endpoint.getHost(), endpoint.getPort()));
    }

    /**
     * Returns where the client connects to instead of the store.
     *
     * @return {@code http://host:port}
     */
    public URI endpoint() {
        return URI.create("http://" + LocalRedis.HOST + ":" + listener.port());
    }

    /**
     * Returns the requests that came since the start, or since {@link #forget()}.
     *
     * @return a copy, in the order in which they came
     */
    public List<S3Request> requests() {
        return List.copyOf(requests);
    }

    /** Forgets the requests that came so far. */
    public void forget() {
        requests.clear();
    }

    /**
     * Chooses a request by its method and key.
     *
     * @param method such as {@code PUT}
     * @param key the whole key, in any bucket
     * @return what can be done to it
     */
    public OnRequest on(String method, String key) {
        return new OnRequest(
                request -> request.method().equals(method) && request.key().equals(key), method + " of '" + key + "'");
    }

    /**
     * Chooses a request by whatever it says.
     *
     * @param description what a failing test says of it, such as {@code PUT of data}
     * @param met is asked about each request
     * @return what can be done to it
     */
    public OnRequest on(String description, Predicate<S3Request> met) {
        return new OnRequest(met, description);
    }

    /** What can be done to a request. Nothing happens until a fault is named. */
    public final class OnRequest {

        private final Predicate<S3Request> met;
        private final String description;
        private final int first;
        private final int last;

        private OnRequest(Predicate<S3Request> met, String description) {
            this(met, description, 1, 1);
        }

        private OnRequest(Predicate<S3Request> met, String description, int first, int last) {
            this.met = met;
            this.description = description;
            this.first = first;
            this.last = last;
        }

        /**
         * Chooses a later one of the requests that are met.
         *
         * @param n counts them from now on; 1 is the next
         * @return what can be done to that one
         * @throws IllegalArgumentException when n is not positive
         */
        public OnRequest nth(int n) {
            if (n < 1) {
                throw new IllegalArgumentException(
                        "The request number " + n + " of " + description + "; the first is 1.");
            }
            return new OnRequest(met, "number " + n + " of " + description, n, n);
        }

        /**
         * Chooses all of the requests that are met, until the fault is let go.
         *
         * @return what can be done to them
         */
        public OnRequest each() {
            return new OnRequest(met, "each " + description, 1, Integer.MAX_VALUE);
        }

        /**
         * The store never gets the request.
         *
         * @param cut how the connection ends then
         * @return the fault
         */
        public Armed dropRequest(FaultProxy.Cut cut) {
            return arm((exchange, fault) -> {
                fault.fire(); // first: whoever sees the cut finds the fault fired
                exchange.cut(cut);
            });
        }

        /**
         * The store carries the request out, and the client never learns of it.
         *
         * @param cut how the connection ends then
         * @return the fault
         */
        public Armed loseAnswer(FaultProxy.Cut cut) {
            return arm((exchange, fault) -> {
                fault.answered(exchange.forward());
                fault.fire();
                exchange.cut(cut);
            });
        }

        /**
         * The request stays on its way until {@link Armed#letGo()}, so that its client runs into its own timeout.
         *
         * @return the fault
         */
        public Armed holdRequest() {
            return arm((exchange, fault) -> {
                fault.fire();
                fault.awaitLetGo();
                fault.answered(exchange.forward());
                exchange.reply();
            });
        }

        /**
         * The store carries the request out; its answer stays on its way until {@link Armed#letGo()}.
         *
         * @return the fault
         */
        public Armed holdAnswer() {
            return arm((exchange, fault) -> {
                fault.answered(exchange.forward());
                fault.fire();
                fault.awaitLetGo();
                exchange.reply();
            });
        }

        /**
         * The store never gets the request; the client gets an answer all the same.
         *
         * @param status of the answer, such as 409
         * @param code what S3 calls it, such as {@code ConditionalRequestConflict}
         * @return the fault
         */
        public Armed answerInstead(int status, String code) {
            return arm((exchange, fault) -> {
                fault.fire();
                exchange.reply(
                        HttpMessage.error(status, code, exchange.request().method()));
            });
        }

        /**
         * The store carries the request out; the client gets another answer.
         *
         * @param status of the answer, such as 500
         * @param code what S3 calls it, such as {@code InternalError}
         * @return the fault
         */
        public Armed answerAfterwards(int status, String code) {
            return arm((exchange, fault) -> {
                fault.answered(exchange.forward());
                fault.fire();
                exchange.reply(
                        HttpMessage.error(status, code, exchange.request().method()));
            });
        }

        private Armed arm(S3Fault.Step step) {
            S3Fault fault = new S3Fault(met, description, first, last, step);
            faults.add(fault);
            return fault;
        }
    }

    /** Ends every fault: lets go what is held and forgets faults that have not happened. */
    public void heal() {
        faults.forEach(S3Fault::letGo);
        faults.clear();
    }

    /** Stops listening and ends all connections. Idempotent. */
    @Override
    public void close() {
        heal();
        listener.close();
    }

    /** Carries one client's requests, one after the other, as HTTP/1.1 wants it. */
    private void carry(Socket client) throws IOException {
        InputStream in = new BufferedInputStream(client.getInputStream());
        boolean last = false;
        while (!last) {
            Optional<HttpMessage> message = HttpMessage.request(in, client.getOutputStream());
            if (message.isEmpty()) {
                return;
            }
            S3Exchange exchange = new S3Exchange(message.get(), client, server);
            carry(exchange);
            last = exchange.isLast() || message.get().isLast();
        }
    }

    private void carry(S3Exchange exchange) throws IOException {
        requests.add(exchange.request());
        Optional<S3Fault> fault =
                faults.stream().filter(armed -> armed.takes(exchange.request())).findFirst();
        if (fault.isPresent()) {
            fault.get().carryOut(exchange);
        } else {
            exchange.forward();
            exchange.reply();
        }
    }

    @Override
    public String toString() {
        return "fault proxy for S3 on port " + listener.port() + " to " + server;
    }
}
