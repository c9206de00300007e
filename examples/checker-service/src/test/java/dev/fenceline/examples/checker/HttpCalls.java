package dev.fenceline.examples.checker;

import dev.fenceline.FencingToken;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;

/** A caller of the service on one port. */
record HttpCalls(HttpClient client, int port) {

    static HttpCalls to(int port) {
        return new HttpCalls(HttpClient.newHttpClient(), port);
    }

    HttpRequest.Builder account(long id) {
        return HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port + "/accounts/" + id))
                .timeout(Duration.ofSeconds(60));
    }

    HttpRequest get(long id, FencingToken token) {
        return account(id).header("Fencing-Token", token.encode()).build();
    }

    HttpRequest put(long id, FencingToken token, long cents) {
        return account(id)
                .header("Fencing-Token", token.encode())
                .PUT(BodyPublishers.ofString("" + cents))
                .build();
    }

    HttpResponse<String> send(HttpRequest request) throws IOException, InterruptedException {
        return client.send(request, BodyHandlers.ofString());
    }

    CompletableFuture<HttpResponse<String>> start(HttpRequest request) {
        return client.sendAsync(request, BodyHandlers.ofString());
    }
}
