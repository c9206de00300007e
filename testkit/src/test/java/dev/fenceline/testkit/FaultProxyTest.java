package dev.fenceline.testkit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import java.io.IOException;
import java.net.ConnectException;
import java.net.Socket;
import java.net.SocketException;
import java.net.SocketTimeoutException;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

@Tag("server")
class FaultProxyTest {

    private static final Duration LIMIT = Duration.ofSeconds(10);

    private final RedisProcess redis = SharedServers.redis();
    private final FaultProxy proxy = FaultProxy.to(redis.host(), redis.port());

    @BeforeEach
    void empty() {
        redis.command("DEL", "n");
    }

    @AfterEach
    void close() {
        proxy.close();
    }

    @Test
    void withoutAFaultEverythingIsForwarded() throws IOException {
        try (Client client = new Client()) {
            assertThat(client.ask("INCR n")).isEqualTo(":1");
            assertThat(client.ask("INCR n")).isEqualTo(":2");
            assertThat(proxy.connections()).isEqualTo(1);
        }
        Polling.until("the proxy has no connection", LIMIT, () -> proxy.connections() == 0);
    }

    @ParameterizedTest
    @EnumSource
    void aDroppedRequestWasNotCarriedOutAndTheConnectionEnds(FaultProxy.Cut cut) throws IOException {
        FaultProxy.Armed fault = proxy.onRequest("INCR n").dropRequest(cut);
        try (Client client = new Client()) {
            assertThat(client.ask("GET n")).isEqualTo("$-1");
            client.send("INCR n");
            client.assertEnded(cut);
            assertThat(fault.fired()).isTrue();
        }
        assertThat(redis.command("GET", "n")).isEmpty();
    }

    @ParameterizedTest
    @EnumSource
    void aRequestWhoseReplyWasLostWasCarriedOutOnce(FaultProxy.Cut cut) throws IOException {
        FaultProxy.Armed fault = proxy.onRequest("INCR n").loseReply(cut);
        try (Client client = new Client()) {
            client.send("INCR n");
            client.assertEnded(cut);
            assertThat(fault.fired()).isTrue();
            assertThat(redis.command("GET", "n")).isEqualTo("1");
        }
        try (Client again = new Client()) {
            assertThat(again.ask("INCR n")).as("a fault happens once").isEqualTo(":2");
        }
    }

    @Test
    void aLostReplyIsTheOneOfTheMarkedRequestAndNoEarlierOne() throws IOException {
        redis.command("DEL", "other");
        FaultProxy.Armed first = proxy.onRequest("INCR other").holdRequest();
        FaultProxy.Armed fault = proxy.onRequest("INCR n").loseReply(FaultProxy.Cut.FIN);
        try (Client client = new Client()) {
            client.send("INCR other");
            first.awaitFired(LIMIT);
            client.send("INCR n");
            first.letGo(); // the second one follows while the first one's reply is on its way
            assertThat(client.line()).isEqualTo(":1");
            client.assertEnded(FaultProxy.Cut.FIN);
            fault.awaitFired(LIMIT);
        }
        assertThat(redis.command("GET", "n")).isEqualTo("1");
    }

    @Test
    void aHeldRequestReachesTheServerAfterTheClientHasGone() throws IOException {
        FaultProxy.Armed fault = proxy.onRequest("INCR n").holdRequest();
        try (Client client = new Client()) {
            client.send("INCR n");
            fault.awaitFired(LIMIT);
        }
        assertThat(redis.command("GET", "n")).isEmpty();
        fault.letGo();
        Polling.until("the late INCR is carried out", LIMIT, () -> "1".equals(redis.command("GET", "n")));
    }

    @ParameterizedTest
    @EnumSource
    void cuttingWhileARequestIsHeldEndsTheClientsSideOnly(FaultProxy.Cut cut) throws IOException {
        FaultProxy.Armed fault = proxy.onRequest("INCR n").holdRequest();
        try (Client client = new Client()) {
            client.send("INCR n");
            fault.awaitFired(LIMIT);
            proxy.cutAll(cut);
            client.assertEnded(cut);
        }
        assertThat(redis.command("GET", "n")).isEmpty();
        fault.letGo();
        Polling.until("the late INCR is carried out", LIMIT, () -> "1".equals(redis.command("GET", "n")));
        Polling.until("the proxy has no connection", LIMIT, () -> proxy.connections() == 0);
    }

    @Test
    void aHeldReplyMeansThatTheRequestWasCarriedOutAndIsDeliveredWhenLetGo() throws IOException {
        FaultProxy.Armed fault = proxy.onRequest("INCR n").holdReply();
        try (Client client = new Client()) {
            client.send("INCR n");
            fault.awaitFired(LIMIT);
            assertThat(redis.command("GET", "n")).isEqualTo("1");
            client.assertSilent();
            fault.letGo();
            assertThat(client.line()).isEqualTo(":1");
        }
    }

    @Test
    void aDelayedReplyComesNoEarlier() throws IOException {
        proxy.onRequest("INCR n").delayReply(Duration.ofMillis(300));
        try (Client client = new Client()) {
            long start = System.nanoTime();
            assertThat(client.ask("INCR n")).isEqualTo(":1");
            assertThat(Duration.ofNanos(System.nanoTime() - start)).isGreaterThanOrEqualTo(Duration.ofMillis(300));
        }
    }

    @Test
    void aMarkerIsFoundAcrossTwoChunksAndNotInWhatWasForwardedBefore() throws IOException {
        try (Client client = new Client()) {
            assertThat(client.ask("INCR n")).isEqualTo(":1");
            FaultProxy.Armed fault = proxy.onRequest("INCR n").dropRequest(FaultProxy.Cut.FIN);
            assertThat(client.ask("GET n")).isEqualTo("$1");
            assertThat(client.line()).isEqualTo("1");
            assertThat(fault.fired()).isFalse();
            client.raw("INC");
            client.raw("R n\r\n");
            client.assertEnded(FaultProxy.Cut.FIN);
            assertThat(fault.fired()).isTrue();
        }
        assertThat(redis.command("GET", "n")).isEqualTo("1");
    }

    @Test
    void aFaultThatIsLetGoBeforeItsRequestNeverHappens() throws IOException {
        FaultProxy.Armed fault = proxy.onRequest("INCR n").dropRequest(FaultProxy.Cut.RST);
        fault.letGo();
        try (Client client = new Client()) {
            assertThat(client.ask("INCR n")).isEqualTo(":1");
        }
        assertThat(fault.fired()).isFalse();
        assertThatIllegalStateException()
                .isThrownBy(() -> fault.awaitFired(Duration.ofMillis(10)))
                .withMessage("The fault on a request with 'INCR n' did not happen within 10 ms: it was let go before.");
    }

    @Test
    void awaitingARequestThatDoesNotComeSaysWhatToLookFor() {
        FaultProxy.Armed fault = proxy.onRequest("EVALSHA").holdReply();
        assertThatIllegalStateException()
                .isThrownBy(() -> fault.awaitFired(Duration.ofMillis(10)))
                .withMessageContaining("'EVALSHA' did not happen within 10 ms: no such request came");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> proxy.onRequest(""))
                .withMessageContaining("A marker of 0 characters");
    }

    @Test
    void aBlackholeTakesConnectionsAndBytesAndDeliversThemWhenHealed() throws IOException {
        try (Client before = new Client()) {
            assertThat(before.ask("INCR n")).isEqualTo(":1");
            proxy.blackhole();
            try (Client during = new Client()) {
                before.send("INCR n");
                during.send("GET n");
                before.assertSilent();
                during.assertSilent();
                assertThat(redis.command("GET", "n")).isEqualTo("1");
                proxy.heal();
                assertThat(before.line()).isEqualTo(":2");
                assertThat(during.line()).isEqualTo("$1");
            }
        }
    }

    @Test
    void aRefusingProxyCutsItsConnectionsAndListensAgainOnTheSamePortWhenHealed() throws IOException {
        int port = proxy.port();
        try (Client client = new Client()) {
            assertThat(client.ask("INCR n")).isEqualTo(":1");
            proxy.refuse();
            client.assertEnded(FaultProxy.Cut.RST);
        }
        assertThatExceptionOfType(ConnectException.class).isThrownBy(Client::new);
        proxy.heal();
        assertThat(proxy.port()).isEqualTo(port);
        try (Client client = new Client()) {
            assertThat(client.ask("INCR n")).isEqualTo(":2");
        }
    }

    @Test
    void noConnectionGetsThroughOnceTheProxyRefuses() throws IOException {
        for (int round = 0; round < 300; round++) {
            // Connected by the kernel, and perhaps not accepted yet by the proxy.
            try (Client client = new Client()) {
                proxy.refuse();
                assertThatExceptionOfType(SocketException.class)
                        .as("round %s", round)
                        .isThrownBy(() -> client.ask("GET n"));
            }
            // Nor is one made afterwards: the port is closed when refuse() returns.
            assertThatExceptionOfType(ConnectException.class)
                    .as("round %s", round)
                    .isThrownBy(Client::new);
            proxy.heal();
        }
    }

    @ParameterizedTest
    @EnumSource
    void cutAllEndsWhatIsOpenAndServesWhatComes(FaultProxy.Cut cut) throws IOException {
        try (Client one = new Client();
                Client two = new Client()) {
            assertThat(one.ask("INCR n")).isEqualTo(":1");
            assertThat(two.ask("INCR n")).isEqualTo(":2");
            proxy.cutAll(cut);
            one.assertEnded(cut);
            two.assertEnded(cut);
        }
        try (Client three = new Client()) {
            assertThat(three.ask("INCR n")).isEqualTo(":3");
        }
    }

    @Test
    void aServerThatEndsAConnectionEndsItForTheClient() throws IOException {
        try (Client client = new Client()) {
            assertThat(client.ask("QUIT")).isEqualTo("+OK");
            client.assertEnded(FaultProxy.Cut.FIN);
        }
    }

    @Test
    void healingLetsGoWhatIsHeld() throws IOException {
        FaultProxy.Armed fault = proxy.onRequest("INCR n").holdRequest();
        proxy.onRequest("GET").dropRequest(FaultProxy.Cut.RST);
        try (Client client = new Client()) {
            client.send("INCR n");
            fault.awaitFired(LIMIT);
            proxy.heal();
            assertThat(client.line()).isEqualTo(":1");
            assertThat(client.ask("GET n")).isEqualTo("$1");
        }
    }

    @Test
    void aCommitWhoseReplyWasLostIsCommittedAndAHeldOneComesLate() throws SQLException {
        PostgresServer postgres = SharedServers.postgres();
        String database = postgres.newDatabase();
        PostgresSessions.execute(postgres.dataSource(database), "CREATE TABLE t (a int)");
        try (FaultProxy line = FaultProxy.to(postgres.host(), postgres.port())) {
            String url = "jdbc:postgresql://" + line.host() + ":" + line.port() + "/" + database + "?user="
                    + postgres.superuser() + "&sslmode=disable";
            try (Connection connection = DriverManager.getConnection(url);
                    Statement statement = connection.createStatement()) {
                connection.setAutoCommit(false);
                statement.execute("INSERT INTO t VALUES (1)");
                line.onRequest("COMMIT").loseReply(FaultProxy.Cut.RST);
                assertThatExceptionOfType(SQLException.class).isThrownBy(connection::commit);
            }
            assertThat(PostgresSessions.query(postgres.dataSource(database), "SELECT sum(a) FROM t"))
                    .isEqualTo("1");

            FaultProxy.Armed late;
            try (Connection connection = DriverManager.getConnection(url + "&socketTimeout=1");
                    Statement statement = connection.createStatement()) {
                connection.setAutoCommit(false);
                statement.execute("INSERT INTO t VALUES (10)");
                late = line.onRequest("COMMIT").holdRequest();
                assertThatExceptionOfType(SQLException.class).isThrownBy(connection::commit);
            }
            assertThat(PostgresSessions.query(postgres.dataSource(database), "SELECT sum(a) FROM t"))
                    .isEqualTo("1");
            late.letGo();
            Polling.until(
                    "the late COMMIT is carried out",
                    LIMIT,
                    () -> "11".equals(PostgresSessions.query(postgres.dataSource(database), "SELECT sum(a) FROM t")));
        }
    }

    /** Bytes as they are, so that the end of a connection is seen as the operating system reports it. */
    private final class Client implements AutoCloseable {

        private final Socket socket;

        Client() throws IOException {
            socket = new Socket(proxy.host(), proxy.port());
            socket.setTcpNoDelay(true);
            socket.setSoTimeout((int) LIMIT.toMillis());
        }

        String ask(String command) throws IOException {
            send(command);
            return line();
        }

        void send(String command) throws IOException {
            raw(command + "\r\n");
        }

        void raw(String text) throws IOException {
            socket.getOutputStream().write(text.getBytes(StandardCharsets.US_ASCII));
        }

        String line() throws IOException {
            StringBuilder line = new StringBuilder();
            for (int b = socket.getInputStream().read();
                    b != '\n';
                    b = socket.getInputStream().read()) {
                assertThat(b).as("bytes before the end of the stream").isNotNegative();
                line.append((char) b);
            }
            return line.toString().strip();
        }

        void assertEnded(FaultProxy.Cut cut) throws IOException {
            if (cut == FaultProxy.Cut.FIN) {
                assertThat(socket.getInputStream().read()).isEqualTo(-1);
            } else {
                assertThatExceptionOfType(SocketException.class)
                        .isThrownBy(() -> socket.getInputStream().read())
                        .withMessageContaining("Connection reset");
            }
        }

        void assertSilent() throws IOException {
            socket.setSoTimeout(100);
            assertThatExceptionOfType(SocketTimeoutException.class)
                    .isThrownBy(() -> socket.getInputStream().read());
            socket.setSoTimeout((int) LIMIT.toMillis());
        }

        @Override
        public void close() throws IOException {
            socket.close();
        }
    }
}
