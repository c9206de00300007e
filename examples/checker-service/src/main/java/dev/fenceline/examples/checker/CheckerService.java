package dev.fenceline.examples.checker;

import com.sun.net.httpserver.HttpServer;
import dev.fenceline.jdbc.PostgresFence;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import org.postgresql.ds.PGSimpleDataSource;

/**
 * Keeps account balances for callers who hold a lock elsewhere and send its token along, in the header {@code Fencing-Token}.
 *
 * <pre>
 * GET /accounts/42    claims the fence of account:42 for the token, then reads: the balance in cents
 * PUT /accounts/42    goes on under that claim: sets the balance in cents that is the body
 * </pre>
 *
 * <p>Whoever was overtaken between the two gets a 409 that names both tokens. A token is no credential: who may call this at all is for
 * an authentication in front of it.
 */
public final class CheckerService implements AutoCloseable {

    private static final int THREADS = 16;

    private final HttpServer server;
    private final ExecutorService threads;

    private CheckerService(HttpServer server, ExecutorService threads) {
        this.server = server;
        this.threads = threads;
    }

    /**
     * Serves on the loopback address until the JVM is ended.
     *
     * @param args the JDBC URL of a database with the fence schema and the accounts, and the port
     * @throws IOException when the port cannot be had
     */
    public static void main(String[] args) throws IOException {
        if (args.length != 2) {
            System.out.println("Usage: CheckerService JDBC-URL PORT, such as"
                    + " 'jdbc:postgresql://localhost:5432/bank?user=app' 8080; port 0 is any that is free."
                    + " The database needs the fence schema and a table account (id bigint PRIMARY KEY,"
                    + " balance_cents bigint NOT NULL).");
            System.exit(2);
        }
        PGSimpleDataSource database = new PGSimpleDataSource();
        database.setUrl(args[0]);
        database.setConnectTimeout(2);
        database.setSocketTimeout(30);
        CheckerService service = start(PostgresFence.on(database), Integer.parseInt(args[1]));
        System.out.println("Serving http://127.0.0.1:" + service.port() + "/accounts/");
    }

    static CheckerService start(PostgresFence fence, int port) throws IOException {
        HttpServer server = bind(port);
        ExecutorService threads = Executors.newFixedThreadPool(THREADS);
        server.setExecutor(threads);
        server.createContext("/accounts/", new AccountHandler(fence));
        server.start();
        return new CheckerService(server, threads);
    }

    /** The JDK's server reads its limits once, at the first one of a JVM. Without them headers may have 384 KiB, and take for ever. */
    static HttpServer bind(int port) throws IOException {
        System.setProperty("sun.net.httpserver.maxReqHeaders", "50");
        System.setProperty("sun.net.httpserver.maxReqHeaderSize", "16384");
        System.setProperty("sun.net.httpserver.maxReqTime", "10");
        return HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), port), 0);
    }

    int port() {
        return server.getAddress().getPort();
    }

    /** Stops at once. Whoever waits for an answer does not learn what happened. */
    @Override
    public void close() {
        server.stop(0);
        threads.shutdown();
    }
}
