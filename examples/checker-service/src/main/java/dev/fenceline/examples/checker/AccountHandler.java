package dev.fenceline.examples.checker;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpHandler;
import dev.fenceline.FencelineException;
import dev.fenceline.FencingToken;
import dev.fenceline.LockName;
import dev.fenceline.jdbc.PostgresFence;
import java.io.IOException;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.nio.charset.StandardCharsets;
import java.sql.SQLException;

/** Answers each request within the fence of the account that its path names. */
final class AccountHandler implements HttpHandler {

    private static final Logger LOG = System.getLogger("dev.fenceline.examples.checker");

    private final PostgresFence fence;

    AccountHandler(PostgresFence fence) {
        this.fence = fence;
    }

    @Override
    public void handle(HttpExchange exchange) throws IOException {
        try (exchange) {
            Answer answer = answer(exchange);
            byte[] body = (answer.text() + "\n").getBytes(StandardCharsets.UTF_8);
            exchange.getResponseHeaders().set("Content-Type", "text/plain; charset=utf-8");
            answer.headers().forEach(exchange.getResponseHeaders()::set);
            exchange.sendResponseHeaders(answer.status(), body.length);
            exchange.getResponseBody().write(body);
        }
    }

    private Answer answer(HttpExchange exchange) throws IOException {
        try {
            return answer(Request.read(exchange));
        } catch (Unusable e) {
            return e.answer();
        } catch (FencelineException e) {
            return Refusal.answer(e);
        } catch (SQLException | RuntimeException e) {
            LOG.log(Level.ERROR, "A request to " + exchange.getRequestURI().getPath() + " failed.", e);
            return Answer.of(500, "internal: the log says more. Nothing was changed.");
        }
    }

    // snippet: checker
    private Answer answer(Request request) throws SQLException {
        LockName lock = LockName.of("account", request.account());
        FencingToken token = request.token().requireLock(lock); // a token is no credential: whose lock it is, we say
        if (request.reads()) { // the first touch: claims, and only then reads
            long cents = fence.claim(token).inTransaction(c -> AccountTable.balance(c, request.account()));
            return Answer.of(200, "" + cents);
        }
        // Goes on under the claim of that read, and never raises: what was read under an older one is old.
        fence.resume(token).useTransaction(c -> AccountTable.setBalance(c, request.account(), request.cents()));
        return Answer.of(200, "" + request.cents());
    }
    // end snippet
}
