package dev.fenceline.examples.checker;

import static org.assertj.core.api.Assertions.assertThat;

import dev.fenceline.FencingToken;
import dev.fenceline.LockName;
import dev.fenceline.jdbc.PostgresFence;
import dev.fenceline.migrations.FenceMigrations;
import dev.fenceline.testkit.ChildJvm;
import dev.fenceline.testkit.RealServers;
import dev.fenceline.testkit.RedisServer;
import java.sql.Connection;
import java.sql.Statement;
import java.time.Duration;
import javax.sql.DataSource;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The two programs as somebody starts them who tries the service with curl. */
@Tag("server")
@RealServers
class ByHandTest {

    private static final Duration LIMIT = Duration.ofSeconds(60);

    @ParameterizedTest
    @ValueSource(classes = {CheckerService.class, HoldLock.class})
    void withoutArgumentsItSaysItsUsage(Class<?> program) {
        try (ChildJvm process = ChildJvm.start(program)) {
            assertThat(process.awaitLine("Usage: ", LIMIT)).startsWith("Usage: " + program.getSimpleName() + " ");
            assertThat(process.awaitExit(LIMIT)).isEqualTo(2);
        }
    }

    @Test
    void theTokenThatIsPrintedOpensTheAccount(DataSource database, RedisServer redis) throws Exception {
        FenceMigrations.on(database).install();
        try (Connection connection = database.getConnection();
                Statement statement = connection.createStatement()) {
            statement.execute("CREATE TABLE account (id bigint PRIMARY KEY, balance_cents bigint NOT NULL)");
            statement.execute("INSERT INTO account VALUES (4711, 100)");
        }
        try (CheckerService service = CheckerService.start(PostgresFence.on(database), 0);
                ChildJvm holder = ChildJvm.start(HoldLock.class, redis.uri(), "4711")) {
            FencingToken token = FencingToken.parse(holder.awaitLine("v1", LIMIT));
            assertThat(token.lock()).isEqualTo(LockName.of("account", 4711));
            HttpCalls calls = HttpCalls.to(service.port());
            assertThat(calls.send(calls.get(4711, token)).body()).isEqualTo("100\n");
            assertThat(calls.send(calls.put(4711, token, 90)).body()).isEqualTo("90\n");
            holder.send("");
            assertThat(holder.awaitExit(LIMIT)).isZero();
        }
    }
}
