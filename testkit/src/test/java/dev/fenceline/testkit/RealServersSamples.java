package dev.fenceline.testkit;

import static org.assertj.core.api.Assertions.assertThat;

import dev.fenceline.LockOptions;
import java.util.ServiceLoader;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import javax.sql.DataSource;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.ValueSource;
import org.junit.platform.engine.TestEngine;

/**
 * Test classes as users write them, run by {@link RealServersTest} on each JUnit. Each makes one table and one key that a class
 * which shared them would find made already.
 */
final class RealServersSamples {

    private RealServersSamples() {}

    private static void makeOwn(DataSource database, RedisServer redis, LockOptions options) {
        PostgresSessions.execute(database, "CREATE TABLE own (id bigint)");
        assertThat(redis.command("SET", options.keyPrefix(), "taken", "NX")).isEqualTo("OK");
    }

    private static void findOwn(DataSource database, RedisServer redis, LockOptions options) {
        PostgresSessions.execute(database, "INSERT INTO own VALUES (1)");
        assertThat(redis.command("GET", options.keyPrefix())).isEqualTo("taken");
    }

    private static String nameOf(DataSource database) {
        return PostgresSessions.query(database, "SELECT current_database()");
    }

    /** Everything that may be asked for, in every place. */
    @RealServers
    static class Everywhere {

        private final DataSource database;
        private final RedisServer redis;

        Everywhere(DataSource database, RedisServer redis) {
            this.database = database;
            this.redis = redis;
        }

        @BeforeAll
        static void own(DataSource database, RedisServer redis, LockOptions options) {
            makeOwn(database, redis, options);
        }

        @Test
        void constructorsAndMethodsGetTheSame(DataSource again, LockOptions options, PostgresServer postgres) {
            findOwn(database, redis, options);
            assertThat(nameOf(again)).isEqualTo(nameOf(database));
            assertThat(options.application()).isEqualTo("Everywhere");
            assertThat(nameOf(postgres.dataSource(postgres.newDatabase()))).isNotEqualTo(nameOf(database));
        }

        @Test
        void aBuilderIsNewEachTimeAndHasThePrefix(
                LockOptions options, LockOptions.Builder one, LockOptions.Builder other) {
            assertThat(one.application("changed").build().keyPrefix()).isEqualTo(options.keyPrefix());
            assertThat(other.build())
                    .usingRecursiveComparison()
                    .ignoringFields("listener")
                    .isEqualTo(options);
        }

        @Test
        void aStoreOfS3GivesBucketsOfOnesOwn(S3Server store) {
            assertThat(store.newBucket()).isNotEqualTo(store.newBucket());
        }

        @Test
        void theVersionIsTold(RedisServer aRedis, PostgresServer postgres) {
            for (TestEngine engine : ServiceLoader.load(TestEngine.class)) {
                if (engine.getId().equals("junit-jupiter")) {
                    System.out.println("on JUnit " + engine.getVersion().orElseThrow());
                }
            }
            System.out.println("pids " + ((RedisProcess) aRedis).pid() + " " + ((PostgresProcess) postgres).pid());
        }

        @Nested
        class Inside {

            private final DataSource inner;

            Inside(DataSource inner) {
                this.inner = inner;
            }

            @Test
            void aNestedClassHasTheDatabaseOfTheClassAround(LockOptions options) {
                assertThat(nameOf(inner)).isEqualTo(nameOf(database));
                findOwn(inner, redis, options);
            }

            @Nested
            @RealServers
            class FurtherInside {
                @Test
                void annotatedOrNot(DataSource innermost, LockOptions options) {
                    findOwn(innermost, redis, options);
                }
            }
        }

        @Test
        void andItIsStillThereAfterANestedClassHasEnded(LockOptions options) {
            findOwn(database, redis, options);
        }
    }

    /** Annotated once, for all that extend it. */
    @RealServers
    abstract static class Inherited {

        private static final CountDownLatch BOTH = new CountDownLatch(2);

        @BeforeAll
        static void own(DataSource database, RedisServer redis, LockOptions options) {
            makeOwn(database, redis, options);
        }

        @Test
        void eachSubclassHasItsOwnWhileTheOtherRuns(DataSource database, RedisServer redis, LockOptions options)
                throws InterruptedException {
            BOTH.countDown();
            assertThat(BOTH.await(60, TimeUnit.SECONDS)).as("both run at once").isTrue();
            findOwn(database, redis, options);
        }
    }

    @Execution(ExecutionMode.CONCURRENT)
    static class OneChild extends Inherited {}

    @Execution(ExecutionMode.CONCURRENT)
    static class OtherChild extends Inherited {}

    /** Two methods at once that are the first to ask. */
    @RealServers
    @Execution(ExecutionMode.CONCURRENT)
    static class MethodsAtOnce {

        private static final CountDownLatch BOTH = new CountDownLatch(2);

        @Test
        void one(DataSource database, LockOptions options) throws InterruptedException {
            meet(database, options);
        }

        @Test
        void other(DataSource database, LockOptions options) throws InterruptedException {
            meet(database, options);
        }

        private static void meet(DataSource database, LockOptions options) throws InterruptedException {
            PostgresSessions.execute(
                    database,
                    "CREATE TABLE IF NOT EXISTS met_" + Thread.currentThread().getId() + " ()");
            BOTH.countDown();
            assertThat(BOTH.await(60, TimeUnit.SECONDS)).as("both run at once").isTrue();
            assertThat(PostgresSessions.query(database, "SELECT count(*) FROM pg_tables WHERE tablename LIKE 'met_%'"))
                    .as("tables that both made, in the database of %s", options.keyPrefix())
                    .isEqualTo("2");
        }
    }

    /** One instance for all methods, which is made before anything else of the class. */
    @RealServers
    @TestInstance(TestInstance.Lifecycle.PER_CLASS)
    static class OneInstance {

        private final DataSource database;

        OneInstance(DataSource database) {
            this.database = database;
        }

        @BeforeAll
        void own(DataSource again, RedisServer redis, LockOptions options) {
            makeOwn(again, redis, options);
        }

        @Test
        void hasWhatItsMethodsHave(RedisServer redis, LockOptions options) {
            findOwn(database, redis, options);
        }
    }

    /** Fails, and says why. */
    @RealServers
    static class WantsToKill {
        @Test
        void redis(RedisProcess redis) {
            redis.kill();
        }

        @Test
        void postgres(PostgresProcess postgres) {
            postgres.crash();
        }
    }

    @RealServers
    static class WantsRedis {
        @Test
        void here(RedisServer redis) {
            redis.command("PING");
        }
    }

    @RealServers
    static class WantsRedisToo {
        @Test
        void here(RedisServer redis) {
            redis.command("PING");
        }
    }

    /** From JUnit 5.13 on: each run of the class makes its tables anew. */
    @RealServers
    @ParameterizedClass
    @ValueSource(strings = {"once", "twice"})
    static class RunTwice {

        RunTwice(String time) {}

        @BeforeAll
        static void own(DataSource database, RedisServer redis, LockOptions options) {
            makeOwn(database, redis, options);
        }

        @Test
        void hasItsOwnEachTime(DataSource database, RedisServer redis, LockOptions options) {
            findOwn(database, redis, options);
        }
    }
}
