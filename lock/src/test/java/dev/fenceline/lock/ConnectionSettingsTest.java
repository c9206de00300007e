package dev.fenceline.lock;

import static dev.fenceline.lock.Fixture.ACCOUNT;
import static dev.fenceline.lock.Fixture.eventually;
import static dev.fenceline.lock.Fixture.fenced;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.fenceline.BackendUnavailableException;
import dev.fenceline.FencedLease;
import dev.fenceline.LockOptions;
import dev.fenceline.Locks;
import dev.fenceline.testkit.EmbeddedServers;
import dev.fenceline.testkit.RedisProcess;
import dev.fenceline.testkit.RedisSpec;
import dev.fenceline.testkit.Servers;
import dev.fenceline.testkit.SharedServers;
import io.lettuce.core.RedisCredentials;
import io.lettuce.core.RedisCredentialsProvider;
import io.lettuce.core.RedisURI;
import io.lettuce.core.SslOptions;
import io.lettuce.core.resource.ClientResources;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.Key;
import java.security.KeyStore;
import java.security.cert.Certificate;
import java.time.Duration;
import java.util.Base64;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What Lettuce can say about a server, and what a program shares with these locks. */
@Tag("server")
class ConnectionSettingsTest {

    private static final String PASSWORD = "store-password";

    private final EmbeddedServers servers = Servers.embedded();
    private final LockOptions options = Fixture.options().build();

    @AfterEach
    void stopServers() {
        servers.close();
    }

    @Test
    void aServerBehindAPrivateAuthorityIsTrustedIfThatIsGiven(@TempDir Path directory) throws Exception {
        Path certificate = makeCertificate(directory);
        int port = freePort();
        try (RedisProcess redis = servers.redis(RedisSpec.master()
                .setting("tls-port", Integer.toString(port))
                .setting("tls-cert-file", certificate.toString())
                .setting("tls-key-file", directory.resolve("key.pem").toString())
                .setting("tls-ca-cert-file", certificate.toString())
                .setting("tls-auth-clients", "no"))) {
            String uri = "rediss://" + redis.host() + ":" + port;
            SslOptions ours = SslOptions.builder()
                    .jdkSslProvider()
                    .trustManager(certificate.toFile())
                    .build();
            try (Locks locks = RedisLocks.with(ours).connect(uri, options)) {
                assertThat(next(locks)).isPositive();
                redis.restart();
                assertThat(next(locks)).isPositive();
            }
            assertThatThrownBy(() -> RedisLocks.connect(uri, options))
                    .isInstanceOf(BackendUnavailableException.class)
                    .hasMessageContaining("No connection to Redis at " + redis.host() + ":" + port)
                    .hasMessageContaining("unable to find valid certification path");
        }
    }

    private static int freePort() throws Exception {
        try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            return socket.getLocalPort();
        }
    }

    /** A certificate that no authority of this machine knows, with its key, as PEM files. */
    private static Path makeCertificate(Path directory) throws Exception {
        Path store = directory.resolve("store.p12");
        Process keytool = new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "keytool")
                                .toString(),
                        "-genkeypair",
                        "-alias",
                        "redis",
                        "-keyalg",
                        "EC",
                        "-dname",
                        "CN=redis",
                        "-ext",
                        "san=ip:127.0.0.1",
                        "-ext",
                        "bc:c",
                        "-keystore",
                        store.toString(),
                        "-storetype",
                        "PKCS12",
                        "-storepass",
                        PASSWORD)
                .redirectErrorStream(true)
                .start();
        String said = new String(keytool.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(keytool.waitFor(30, TimeUnit.SECONDS)).as(said).isTrue();
        assertThat(keytool.exitValue()).as(said).isZero();
        KeyStore keys = KeyStore.getInstance("PKCS12");
        try (InputStream in = Files.newInputStream(store)) {
            keys.load(in, PASSWORD.toCharArray());
        }
        Key key = keys.getKey("redis", PASSWORD.toCharArray());
        Certificate certificate = keys.getCertificate("redis");
        writePem(directory.resolve("key.pem"), "PRIVATE KEY", key.getEncoded());
        return writePem(directory.resolve("certificate.pem"), "CERTIFICATE", certificate.getEncoded());
    }

    private static Path writePem(Path file, String kind, byte[] bytes) throws Exception {
        String text = Base64.getMimeEncoder(64, new byte[] {'\n'}).encodeToString(bytes);
        return Files.writeString(file, "-----BEGIN " + kind + "-----\n" + text + "\n-----END " + kind + "-----\n");
    }

    @Test
    void sharedResourcesServeTheLocksAndOutliveThem() throws Exception {
        ClientResources shared = ClientResources.create();
        try {
            for (int i = 0; i < 2; i++) {
                try (Locks locks =
                        RedisLocks.on(shared).connect(SharedServers.redis().uri(), options)) {
                    assertThat(next(locks)).isPositive();
                }
                assertThat(shared.eventExecutorGroup().isShuttingDown()).isFalse();
            }
        } finally {
            shared.shutdown(0, 2, TimeUnit.SECONDS).get(10, TimeUnit.SECONDS);
        }
        eventually("no thread is left", () -> RedisLocksTest.ourThreads() == 0);
    }

    @Test
    void theDatabaseOfTheUriIsUsedByLocksAndLeftAloneByOthers() throws InterruptedException {
        RedisProcess redis = servers.redis(RedisSpec.master());
        try (Locks third = RedisLocks.connect(redis.uri() + "/3", options);
                Locks first = RedisLocks.connect(redis.uri(), options);
                FencedLease held = third.fenced(ACCOUNT).acquire()) {
            String script = "redis.call('SELECT', ARGV[1]) return redis.call('GET', KEYS[1])";
            String key = new KeySpace(options.keyPrefix()).lock(fenced(ACCOUNT));
            assertThat(redis.command("EVAL", script, "1", key, "3"))
                    .contains(Long.toString(held.token().value()));
            assertThat(redis.command("EVAL", script, "1", key, "0")).isEmpty();
            assertThat(first.fenced(ACCOUNT).tryAcquire()).isPresent();
        }
    }

    /** A secret that is rotated: the provider is asked for each connection, of the subscription too. */
    @Test
    void credentialsAreAskedForAtEachConnection() throws InterruptedException {
        RedisProcess redis = servers.redis(RedisSpec.master());
        AtomicReference<String> secret = new AtomicReference<>("first-secret");
        redis.command("ACL", "SETUSER", "app", "on", ">first-secret", "~*", "&*", "+@all");
        RedisCredentialsProvider provider = RedisCredentialsProvider.from(
                () -> RedisCredentials.just("app", secret.get().toCharArray()));
        RedisURI uri = RedisURI.builder()
                .withHost(redis.host())
                .withPort(redis.port())
                .withAuthentication(provider)
                .build();
        try (Fixture.Wire wire =
                new Fixture.Wire(options, (network, context) -> new OneServer(network, Uris.copy(uri), context))) {
            Locks locks = wire.locks(LockClock.system());
            assertThat(next(locks)).isPositive();
            secret.set("second-secret");
            redis.command("ACL", "SETUSER", "app", "resetpass", ">second-secret");
            redis.command("CLIENT", "KILL", "TYPE", "normal");
            redis.command("CLIENT", "KILL", "TYPE", "pubsub");
            assertThat(next(locks)).isPositive();
            eventually("messages are heard again", () -> wire.transport().listening());
        }
    }

    @Test
    void eachGrantLooksAtTheServerIfThatIsAskedFor() throws Exception {
        RedisProcess redis = servers.redis(RedisSpec.master());
        assertThat(looks(redis, LockOptions.IncarnationCheck.EVERY_GRANT)).isEqualTo(20);
        assertThat(looks(redis, LockOptions.IncarnationCheck.CACHED)).isLessThan(20);
    }

    /** How often INFO is asked in ten grants, which ask for two sections of it. */
    private long looks(RedisProcess redis, LockOptions.IncarnationCheck check) throws Exception {
        LockOptions checked = Fixture.options().incarnationCheck(check).build();
        try (Fixture.Wire wire = new Fixture.Wire(redis, checked)) {
            wire.nextToken(ACCOUNT);
            long before = Fixture.calls(redis, "info");
            for (int i = 0; i < 10; i++) {
                wire.nextToken(ACCOUNT);
            }
            // Looking at the statistics is one INFO too.
            return Fixture.calls(redis, "info") - before - 1;
        }
    }

    private static long next(Locks locks) throws InterruptedException {
        try (FencedLease lease = locks.fenced(ACCOUNT).acquireWithin(Duration.ofSeconds(10))) {
            return lease.token().value();
        }
    }
}
