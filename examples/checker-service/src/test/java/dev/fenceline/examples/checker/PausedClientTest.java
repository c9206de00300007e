package dev.fenceline.examples.checker;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import dev.fenceline.LockOptions;
import dev.fenceline.jdbc.PostgresFence;
import dev.fenceline.migrations.FenceMigrations;
import dev.fenceline.testkit.ChildJvm;
import dev.fenceline.testkit.RealServers;
import dev.fenceline.testkit.RedisServer;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import javax.sql.DataSource;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * A client of the lock is stopped by SIGSTOP between its read and its write, for longer than its lease. Another one takes the lock and
 * books 10. What becomes of that is the service's to decide, which knows nothing of either but the token.
 */
@Tag("server")
@RealServers
class PausedClientTest {

    private static final Duration LIMIT = Duration.ofSeconds(60);

    private final DataSource database;
    private final RedisServer redis;
    private final LockOptions options;

    PausedClientTest(DataSource database, RedisServer redis, LockOptions options) {
        this.database = database;
        this.redis = redis;
        this.options = options;
    }

    @BeforeAll
    static void schema(DataSource database) throws SQLException {
        FenceMigrations.on(database).install();
        try (Connection connection = database.getConnection();
                Statement statement = connection.createStatement()) {
            statement.execute("CREATE TABLE account (id bigint PRIMARY KEY, balance_cents bigint NOT NULL)");
            statement.execute("INSERT INTO account VALUES (1, 100), (2, 100)");
        }
    }

    @Test
    void theLateWriteIsRefusedWithBothTokensAndNoBookingIsLost() throws Exception {
        try (CheckerService service = CheckerService.start(PostgresFence.on(database), 0)) {
            Story story = play(1, service.port());
            assertThat(story.answerToTheOther()).isEqualTo("answer 200 110");
            assertThat(story.answerToThePaused())
                    .startsWith("answer 409 stale: ")
                    .contains("token " + story.tokenOfThePaused() + " is older by ")
                    .contains("than " + story.tokenOfTheOther() + ", already accepted here");
        }
        assertThat(balance(1)).isEqualTo(110);
    }

    @Test
    void aServiceThatTrustsTheLockAloneLosesABooking() throws Exception {
        HttpServer trusting = CheckerService.bind(0);
        trusting.createContext("/accounts/", this::withoutAFence);
        trusting.start();
        try {
            Story story = play(2, trusting.getAddress().getPort());
            assertThat(story.answerToTheOther()).isEqualTo("answer 200 110");
            assertThat(story.answerToThePaused()).isEqualTo("answer 200 110");
        } finally {
            trusting.stop(0);
        }
        assertThat(balance(2)).as("100 and two bookings of 10").isEqualTo(110);
    }

    private record Story(
            String tokenOfThePaused, String tokenOfTheOther, String answerToThePaused, String answerToTheOther) {}

    private Story play(long account, int port) {
        try (ChildJvm paused = client(account, port)) {
            String tokenOfThePaused = paused.awaitLine("token ", LIMIT).substring("token ".length());
            paused.awaitLine("read 100", LIMIT);
            paused.pause();
            try (ChildJvm other = client(account, port)) {
                String tokenOfTheOther = other.awaitLine("token ", LIMIT).substring("token ".length());
                other.awaitLine("read 100", LIMIT);
                other.send("write");
                String answerToTheOther = other.awaitLine("answer ", LIMIT);
                paused.resume();
                paused.send("write");
                return new Story(
                        tokenOfThePaused, tokenOfTheOther, paused.awaitLine("answer ", LIMIT), answerToTheOther);
            }
        }
    }

    private ChildJvm client(long account, int port) {
        return ChildJvm.start(LockClient.class, redis.uri(), "" + port, "" + account, options.keyPrefix());
    }

    private void withoutAFence(HttpExchange exchange) throws IOException {
        try (exchange;
                Connection connection = database.getConnection()) {
            if (exchange.getRequestMethod().equals("PUT")) {
                AccountTable.setBalance(
                        connection,
                        2,
                        Long.parseLong(
                                new String(exchange.getRequestBody().readAllBytes(), StandardCharsets.US_ASCII)));
            }
            byte[] body = ("" + AccountTable.balance(connection, 2)).getBytes(StandardCharsets.US_ASCII);
            exchange.sendResponseHeaders(200, body.length);
            exchange.getResponseBody().write(body);
        } catch (SQLException e) {
            throw new IOException(e);
        }
    }

    private long balance(long account) throws SQLException {
        try (Connection connection = database.getConnection()) {
            return AccountTable.balance(connection, account);
        }
    }
}
