package dev.fenceline.examples.springboot;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.http.HttpResponse;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Two instances of the service on one database. One is stopped by SIGSTOP in the middle of a request, for longer than its lease; the other
 * does the same for the same account meanwhile; the first one wakes and goes on.
 */
@Tag("server")
class TwoInstancesTest {

    private static final Pattern TOKEN =
            Pattern.compile("\"(presented|newest)\":\"(\\d+)/[0-9a-f]{8} of 'account:(\\d+)'\"");

    private static final Bank BANK = RunningService.BANK;

    private static Sleeper process;
    private static Instance sleeper;
    private static Instance other;

    @BeforeAll
    static void start() {
        process = Sleeper.start(BANK, RunningService.LEASE);
        other = RunningService.instance();
        sleeper = process.instance();
    }

    @AfterAll
    static void stop() {
        process.close();
    }

    /** Both send the same request, and one is stopped in the middle of it; returns what that one answers when it has woken. */
    private static HttpResponse<String> stoppedDuring(String request) throws Exception {
        return stoppedDuring(request, request);
    }

    private static HttpResponse<String> stoppedDuring(String request, String others) throws Exception {
        CompletableFuture<HttpResponse<String>> late = sleeper.post(request);
        process.awaitTheMiddle();
        process.stop();
        HttpResponse<String> meanwhile = answer(other.post(others));
        assertThat(meanwhile.statusCode()).as(meanwhile.body()).isEqualTo(200);
        assertThat(process.state()).isEqualTo('T');
        process.wake();
        process.confirm();
        return answer(late);
    }

    private static HttpResponse<String> answer(CompletableFuture<HttpResponse<String>> response) throws Exception {
        return response.get(Instance.LIMIT.toSeconds(), TimeUnit.SECONDS);
    }

    private static void assertRefusedWithBothTokens(HttpResponse<String> answer, long account) {
        assertThat(answer.statusCode()).as(answer.body()).isEqualTo(409);
        assertThat(answer.body()).contains("A newer holder has taken over; stop, and do not retry with this token.");
        assertThat(TOKEN.matcher(answer.body()).results().map(found -> found.group(1) + " " + found.group(3)))
                .containsExactlyInAnyOrder("presented " + account, "newest " + account);
        assertThat(token(answer, "presented")).isLessThan(token(answer, "newest"));
    }

    private static long token(HttpResponse<String> answer, String which) {
        return TOKEN.matcher(answer.body())
                .results()
                .filter((MatchResult found) -> found.group(1).equals(which))
                .mapToLong(found -> Long.parseLong(found.group(2)))
                .findFirst()
                .orElseThrow();
    }

    @Test
    void whoSleptInsideItsTransactionIsRefusedThroughJpa() throws Exception {
        long account = BANK.account(100_000);
        String request = "/accounts/" + account + "/withdrawals?cents=30000";

        HttpResponse<String> late = stoppedDuring(request);

        assertRefusedWithBothTokens(late, account);
        assertThat(BANK.balance(account)).isEqualTo(70_000);
        assertThat(answer(other.post(request)).body()).isEqualTo("40000");
    }

    @Test
    void whoSleptBetweenItsTransactionsIsRefusedThroughJdbcTemplate() throws Exception {
        long account = BANK.account(1_000_000);

        HttpResponse<String> late = stoppedDuring("/accounts/" + account + "/fees");

        assertRefusedWithBothTokens(late, account);
        assertThat(BANK.balance(account)).isEqualTo(999_000);
    }

    @Test
    void aTransferThatSleptIsRefusedForTheAccountThatItPaysTo() throws Exception {
        long from = BANK.account(100_000);
        long to = BANK.account(100_000);

        HttpResponse<String> late = stoppedDuring(
                "/accounts/" + from + "/transfers?to=" + to + "&cents=30000",
                "/accounts/" + to + "/withdrawals?cents=50000");

        assertRefusedWithBothTokens(late, to);
        assertThat(BANK.balance(from)).isEqualTo(100_000);
        assertThat(BANK.balance(to)).isEqualTo(50_000);
    }

    @Test
    void aTransferUnderOneOfItsTwoLocksWipesOutTheOther() throws Exception {
        long from = BANK.account(100_000);
        long to = BANK.account(100_000);

        HttpResponse<String> late = stoppedDuring(
                "/naive/" + from + "/transfer?to=" + to + "&cents=30000",
                "/accounts/" + to + "/withdrawals?cents=50000");

        assertThat(late.statusCode()).as(late.body()).isEqualTo(200);
        assertThat(BANK.balance(to))
                .as("100,000 - 50,000 + 30,000, had nothing been lost")
                .isEqualTo(130_000);
    }

    @Test
    void whoFindsTheLockHeldIsToldToTryAgain() throws Exception {
        long account = BANK.account(1_000_000);
        String request = "/accounts/" + account + "/fees";
        CompletableFuture<HttpResponse<String>> first = sleeper.post(request);
        process.awaitTheMiddle();

        HttpResponse<String> meanwhile = answer(other.post(request));

        assertThat(meanwhile.statusCode()).as(meanwhile.body()).isEqualTo(503);
        assertThat(meanwhile.headers().firstValue("Retry-After")).contains("1");
        assertThat(meanwhile.body()).contains("Lock 'account:" + account + "' not acquired within ");
        process.confirm();
        assertThat(answer(first).body()).isEqualTo("999000");
        assertThat(answer(other.post(request)).body()).isEqualTo("998001");
    }

    @ParameterizedTest
    @ValueSource(strings = {"transaction", "lock"})
    void withATransactionOrALockAloneTheLateWriterWipesOutTheOther(String protection) throws Exception {
        long account = BANK.account(100_000);

        HttpResponse<String> late = stoppedDuring("/naive/" + account + "/" + protection + "?cents=30000");

        // Twice 300.00 were paid out, and only once they are missing.
        assertThat(late.statusCode()).as(late.body()).isEqualTo(200);
        assertThat(BANK.balance(account)).isEqualTo(70_000);
    }
}
