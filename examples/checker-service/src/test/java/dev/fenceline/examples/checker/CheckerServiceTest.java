package dev.fenceline.examples.checker;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.fenceline.FencingToken;
import dev.fenceline.LockName;
import dev.fenceline.jdbc.PostgresFence;
import dev.fenceline.migrations.FenceMigrations;
import dev.fenceline.testkit.FaultProxy;
import dev.fenceline.testkit.FaultProxy.Armed;
import dev.fenceline.testkit.FaultProxy.Cut;
import dev.fenceline.testkit.PostgresServer;
import dev.fenceline.testkit.RealServers;
import java.io.IOException;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import javax.sql.DataSource;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.postgresql.ds.PGSimpleDataSource;

/** What the service answers to each token, over HTTP. */
@Tag("server")
@RealServers
class CheckerServiceTest {

    private static final Duration LIMIT = Duration.ofSeconds(30);
    private static final AtomicLong ACCOUNT = new AtomicLong(41);

    private final DataSource database;
    private final FaultProxy proxy;
    private final AtomicLong last = new AtomicLong(micros(Instant.now()));
    private final long account = ACCOUNT.incrementAndGet();
    private CheckerService service;
    private HttpCalls calls;

    CheckerServiceTest(DataSource database, PostgresServer postgres) {
        this.database = database;
        this.proxy = FaultProxy.to(postgres.host(), postgres.port());
    }

    @BeforeAll
    static void schema(DataSource database) throws SQLException {
        FenceMigrations.on(database).install();
        execute(database, "CREATE TABLE account (id bigint PRIMARY KEY, balance_cents bigint NOT NULL)");
    }

    @BeforeEach
    void serve() throws Exception {
        execute(database, "INSERT INTO account VALUES (" + account + ", 100)");
        PGSimpleDataSource through = new PGSimpleDataSource();
        through.setUrl(database.unwrap(PGSimpleDataSource.class).getURL());
        through.setUser("postgres");
        through.setServerNames(new String[] {proxy.host()});
        through.setPortNumbers(new int[] {proxy.port()});
        service = CheckerService.start(PostgresFence.on(through).claimTimeout(Duration.ofMillis(300)), 0);
        calls = HttpCalls.to(service.port());
    }

    @AfterEach
    void stop() {
        service.close();
        proxy.close();
    }

    @Test
    void theFirstTouchClaimsAndLaterRequestsGoOnUnderThatClaim() throws Exception {
        FencingToken token = token();
        assertAnswer(calls.send(calls.get(account, token)), 200, "100\n");
        assertThat(mark()).isEqualTo(token.value());
        assertAnswer(calls.send(calls.put(account, token, 110)), 200, "110\n");
        assertAnswer(calls.send(calls.get(account, token)), 200, "110\n");
        assertAnswer(calls.send(calls.put(account, token, 115)), 200, "115\n");
        assertThat(balance()).isEqualTo(115);
    }

    @Test
    void whoWasOvertakenGetsAConflictThatNamesBothTokens() throws Exception {
        FencingToken older = token();
        FencingToken newer = token();
        calls.send(calls.get(account, older));
        calls.send(calls.get(account, newer));
        calls.send(calls.put(account, newer, 110));
        for (HttpRequest late : new HttpRequest[] {calls.put(account, older, 90), calls.get(account, older)}) {
            HttpResponse<String> answer = calls.send(late);
            assertThat(answer.statusCode()).isEqualTo(409);
            assertThat(answer.body())
                    .startsWith("stale: ")
                    .contains("token " + older + " is older by ")
                    .contains("than " + newer + ", already accepted here")
                    .contains("do not retry with this token");
        }
        assertThat(balance()).isEqualTo(110);
    }

    @Test
    void aWriteThatIsBasedOnNoReadIsRefused() throws Exception {
        FencingToken token = token();
        assertThat(calls.send(calls.put(account, token, 90)))
                .satisfies(answer -> assertThat(answer.statusCode()).isEqualTo(409))
                .satisfies(answer -> assertThat(answer.body())
                        .startsWith("rejected: Token " + token + " rejected by PostgreSQL guard 'account:" + account)
                        .contains("this token was never claimed here")
                        .contains("Begin again: acquire, claim, then read."));
        assertThat(balance()).isEqualTo(100);
    }

    @Test
    void aTokenOfAnotherLockIsForbidden() throws Exception {
        FencingToken other = new FencingToken(LockName.of("account", 7), last.incrementAndGet(), UUID.randomUUID());
        for (HttpRequest request : new HttpRequest[] {calls.get(account, other), calls.put(account, other, 90)}) {
            HttpResponse<String> answer = calls.send(request);
            assertThat(answer.statusCode()).isEqualTo(403);
            assertThat(answer.body())
                    .startsWith("rejected: Token " + other + " rejected for 'account:" + account + "'")
                    .contains("it belongs to another lock");
        }
        assertThat(balance()).isEqualTo(100);
        assertThat(number(
                        "SELECT count(*) FROM fenceline.guard WHERE lock IN ('account:7', 'account:" + account + "')"))
                .as("marks that it left")
                .isZero();
    }

    @Test
    void aTokenOfTheFarFutureIsForbiddenAndDoesNotBlockTheAccount() throws Exception {
        FencingToken forged = new FencingToken(
                LockName.of("account", account), micros(Instant.now().plus(26, ChronoUnit.HOURS)), UUID.randomUUID());
        HttpResponse<String> answer = calls.send(calls.get(account, forged));
        assertThat(answer.statusCode()).isEqualTo(403);
        assertThat(answer.body()).startsWith("rejected: ").contains("ahead of the resource's clock");
        assertAnswer(calls.send(calls.get(account, token())), 200, "100\n");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "42",
                "v1.YWNjb3VudDo0Mg.17",
                "v2.YWNjb3VudDo0Mg.17.00000000000000000000000000000001",
                "v1.YWNjb3VudDo0Mg.9007199254740992.00000000000000000000000000000001",
                "v1.!!!.17.00000000000000000000000000000001"
            })
    void whatIsNoTokenIsABadRequest(String text) throws Exception {
        HttpResponse<String> answer =
                calls.send(calls.account(account).header("Fencing-Token", text).build());
        assertThat(answer.statusCode()).isEqualTo(400);
        assertThat(answer.body()).startsWith("malformed: ");
    }

    @Test
    void noTokenAndTwoTokensAreBadRequests() throws Exception {
        assertAnswer(
                calls.send(calls.account(account).build()),
                400,
                "malformed: one header Fencing-Token is needed, and 0 were sent.\n");
        HttpRequest two = calls.account(account)
                .header("Fencing-Token", token().encode())
                .header("Fencing-Token", token().encode())
                .build();
        assertAnswer(calls.send(two), 400, "malformed: one header Fencing-Token is needed, and 2 were sent.\n");
    }

    @Test
    void tokensHeadersAndBodiesHaveLimits() throws Exception {
        HttpResponse<String> longToken = calls.send(calls.account(account)
                .header("Fencing-Token", "v1." + "x".repeat(1_000))
                .build());
        assertAnswer(longToken, 400, "malformed: An encoded token has 1003 characters; at most 900 are allowed.\n");
        FencingToken token = token();
        calls.send(calls.get(account, token));
        HttpRequest.Builder put = calls.account(account).header("Fencing-Token", token.encode());
        assertThat(calls.send(put.PUT(BodyPublishers.ofString("1".repeat(10_000)))
                                .build())
                        .statusCode())
                .isEqualTo(413);
        for (String body : new String[] {"", "-1", "1.5", "ten", "1".repeat(19)}) {
            assertThat(calls.send(put.PUT(BodyPublishers.ofString(body)).build()))
                    .as("'%s' in cents", body)
                    .satisfies(answer -> assertThat(answer.statusCode()).isEqualTo(400))
                    .satisfies(answer -> assertThat(answer.body()).startsWith("malformed: the body is a number"));
        }
        assertThatThrownBy(() -> calls.send(calls.account(account)
                        .header("Other", "x".repeat(20_000))
                        .build()))
                .as("a header of 20,000 bytes")
                .isInstanceOf(IOException.class);
        assertThat(balance()).isEqualTo(100);
        assertAnswer(calls.send(calls.get(account, token)), 200, "100\n");
    }

    @Test
    void whatIsNotThereIsNotFound() throws Exception {
        FencingToken token = new FencingToken(LockName.of("account", 1), last.incrementAndGet(), UUID.randomUUID());
        assertAnswer(calls.send(calls.get(1, token)), 404, "not found: there is no account 1.\n");
        assertAnswer(calls.send(calls.put(1, token, 5)), 404, "not found: there is no account 1.\n");
        assertThat(calls.send(calls.get(-1, token)).statusCode()).isEqualTo(404);
        HttpResponse<String> delete = calls.send(calls.account(account).DELETE().build());
        assertThat(delete.statusCode()).isEqualTo(405);
        assertThat(delete.headers().firstValue("Allow")).contains("GET, PUT");
    }

    @Test
    void whileTheAccountIsBusyOneMayTryAgain() throws Exception {
        FencingToken token = token();
        calls.send(calls.get(account, token));
        PostgresFence.on(database).resume(token).useTransaction(c -> {
            AccountTable.setBalance(c, account, 120);
            HttpResponse<String> busy = sent(calls.get(account, token()));
            assertThat(busy.statusCode()).isEqualTo(503);
            assertThat(busy.headers().firstValue("Retry-After")).contains("1");
            assertThat(busy.body()).startsWith("try again: ").contains("account:" + account);
        });
        assertAnswer(calls.send(calls.get(account, token())), 200, "120\n");
    }

    @Test
    void whileTheDatabaseCannotBeReachedOneMayTryAgain() throws Exception {
        FencingToken token = token();
        calls.send(calls.get(account, token));
        proxy.refuse();
        for (HttpRequest request : new HttpRequest[] {calls.get(account, token), calls.put(account, token, 90)}) {
            HttpResponse<String> answer = calls.send(request);
            assertThat(answer.statusCode()).isEqualTo(503);
            assertThat(answer.headers().firstValue("Retry-After")).contains("1");
            assertThat(answer.body()).startsWith("try again: ");
        }
        proxy.heal();
        assertAnswer(calls.send(calls.put(account, token, 90)), 200, "90\n");
    }

    @Test
    void aLostAnswerToTheCommitIsSettledAndIfItCannotBeTheCallerIsTold() throws Exception {
        FencingToken token = token();
        calls.send(calls.get(account, token));
        Armed leaving = proxy.onRequest("leave_v1").holdRequest();
        CompletableFuture<HttpResponse<String>> settled = calls.start(calls.put(account, token, 110));
        leaving.awaitFired(LIMIT);
        proxy.onRequest("COMMIT").loseReply(Cut.RST);
        leaving.letGo();
        assertAnswer(settled.get(60, TimeUnit.SECONDS), 200, "110\n");

        leaving = proxy.onRequest("leave_v1").holdRequest();
        CompletableFuture<HttpResponse<String>> unknown = calls.start(calls.put(account, token, 115));
        leaving.awaitFired(LIMIT);
        Armed committed = proxy.onRequest("COMMIT").holdReply();
        leaving.letGo();
        committed.awaitFired(LIMIT);
        proxy.refuse();
        HttpResponse<String> answer = unknown.get(60, TimeUnit.SECONDS);
        assertThat(answer.statusCode()).isEqualTo(500);
        assertThat(answer.body()).startsWith("unknown, it may have happened: ");
        assertThat(balance()).as("it had").isEqualTo(115);

        proxy.heal();
        assertAnswer(calls.send(calls.get(account, token)), 200, "115\n");
    }

    private HttpResponse<String> sent(HttpRequest request) {
        try {
            return calls.send(request);
        } catch (IOException | InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    private FencingToken token() {
        return new FencingToken(LockName.of("account", account), last.incrementAndGet(), UUID.randomUUID());
    }

    private static long micros(Instant instant) {
        return ChronoUnit.MICROS.between(Instant.EPOCH, instant);
    }

    private static void assertAnswer(HttpResponse<String> answer, int status, String body) {
        assertThat(answer.body()).isEqualTo(body);
        assertThat(answer.statusCode()).isEqualTo(status);
    }

    private long balance() throws SQLException {
        return number("SELECT balance_cents FROM account WHERE id = " + account);
    }

    private long mark() throws SQLException {
        return number("SELECT token FROM fenceline.guard WHERE lock = 'account:" + account + "'");
    }

    private long number(String sql) throws SQLException {
        try (Connection connection = database.getConnection();
                Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery(sql)) {
            row.next();
            return row.getLong(1);
        }
    }

    private static void execute(DataSource database, String sql) throws SQLException {
        try (Connection connection = database.getConnection();
                Statement statement = connection.createStatement()) {
            statement.execute(sql);
        }
    }
}
