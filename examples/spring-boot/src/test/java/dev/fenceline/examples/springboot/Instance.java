package dev.fenceline.examples.springboot;

import dev.fenceline.testkit.SharedServers;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import org.springframework.boot.SpringApplication;
import org.springframework.context.ConfigurableApplicationContext;

/** An instance of the service, as those see it who call it. */
record Instance(URI address) {

    static final Duration LIMIT = Duration.ofSeconds(60);

    private static final HttpClient HTTP = HttpClient.newHttpClient();

    /** What a test wants of Spring Boot. */
    private static final Map<String, Object> SETTINGS = Map.of(
            "server.port", "0",
            "server.address", "localhost",
            "server.tomcat.threads.max", "4",
            "server.tomcat.threads.min-spare", "1",
            "spring.main.banner-mode", "off",
            "spring.datasource.hikari.maximum-pool-size", "2",
            "logging.level.root", "warn");

    CompletableFuture<HttpResponse<String>> post(String path) {
        HttpRequest request = HttpRequest.newBuilder(address.resolve(path))
                .timeout(LIMIT)
                .POST(HttpRequest.BodyPublishers.noBody())
                .build();
        return HTTP.sendAsync(request, HttpResponse.BodyHandlers.ofString());
    }

    /** How the service is told where its servers are. */
    static String[] settings(Bank bank, Duration lease) {
        return new String[] {
            "--spring.datasource.url=" + bank.url(),
            "--fenceline.redis=" + SharedServers.redis().uri(),
            "--fenceline.lease=" + lease.toMillis() + "ms"
        };
    }

    /** Starts the application in this JVM. */
    static ConfigurableApplicationContext start(String... settings) {
        SpringApplication application = new SpringApplication(BankApplication.class);
        application.setDefaultProperties(SETTINGS);
        return application.run(settings);
    }

    static Instance of(ConfigurableApplicationContext context) {
        return new Instance(
                URI.create("http://localhost:" + context.getEnvironment().getProperty("local.server.port")));
    }
}
