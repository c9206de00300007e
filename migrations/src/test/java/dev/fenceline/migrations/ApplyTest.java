package dev.fenceline.migrations;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.Stream;
import javax.sql.DataSource;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.postgresql.ds.PGSimpleDataSource;

/** Each step stands by itself: what fails undoes nothing else, and whoever tries again finishes. */
@Tag("server")
class ApplyTest {

    private static final Database DATABASE = Database.prepared();

    private FenceMigrations migrations;
    private List<Protect> changes;

    @BeforeEach
    void threeTables() {
        DATABASE.execute(
                "DROP SCHEMA IF EXISTS app CASCADE; CREATE SCHEMA app; CREATE TABLE app.a (id int PRIMARY KEY);"
                        + " CREATE TABLE app.b (id int PRIMARY KEY); CREATE TABLE app.c (id int PRIMARY KEY)");
        migrations = FenceMigrations.on(DATABASE.source());
        changes = Stream.of("app.a", "app.b", "app.c")
                .map(table -> Protect.table(table).lock("thing", "id").observe())
                .toList();
    }

    private static ApplyOptions.Builder quick() {
        return ApplyOptions.builder().lockTimeout(Duration.ofMillis(100)).backOff(Duration.ofMillis(1));
    }

    private static List<String> isProtected() {
        return DATABASE.rows("SELECT relation::text FROM fenceline.protected ORDER BY 1");
    }

    private static List<Applied.Outcome> outcomes(Applied applied) {
        return applied.steps().stream().map(Applied.AppliedStep::outcome).toList();
    }

    private static DataSource named(String application) {
        PGSimpleDataSource source = (PGSimpleDataSource) DATABASE.server().dataSource(DATABASE.name());
        source.setApplicationName(application);
        return source;
    }

    @Test
    void whoIsInTheWayIsNamedAndTheOtherTablesAreDone() throws Exception {
        List<String> heard = new ArrayList<>();
        ApplyOptions options = quick().attempts(3)
                .progress(event -> heard.add(event.number() + "/" + event.total() + " "
                        + event.step().change().table() + " " + event.stage() + " " + event.attempt()
                        + (event.detail().contains("'nightly report'") ? " by the report" : "")))
                .build();
        Plan plan = migrations.plan(changes);
        try (Connection report = named("nightly report").getConnection();
                Statement statement = report.createStatement()) {
            report.setAutoCommit(false);
            statement.execute("INSERT INTO app.b VALUES (1)");
            String pid = DATABASE.rows("SELECT pid FROM pg_stat_activity WHERE application_name = 'nightly report'")
                    .get(0);

            assertThatThrownBy(() -> plan.apply(options))
                    .isInstanceOfSatisfying(PlanUnfinishedException.class, e -> {
                        assertThat(outcomes(e.applied()))
                                .containsExactly(
                                        Applied.Outcome.CHANGED, Applied.Outcome.NOT_DONE, Applied.Outcome.CHANGED);
                        assertThat(e.applied().steps().get(1).attempts()).isEqualTo(3);
                        assertThat(e).hasCauseInstanceOf(SQLException.class);
                    })
                    .hasMessageStartingWith(
                            "Applied 2 of 3 steps (app.a, app.c), and not:\n- app.b after 3 attempts: ERROR: canceling"
                                    + " statement due to ")
                    .hasMessageContaining("; the table is held by pid " + pid
                            + " 'nightly report' of role postgres, in a transaction for ")
                    .hasMessageEndingWith(
                            "\nWhat is done stays. End or mend what is in the way, and apply the same again.");
        }
        assertThat(isProtected()).containsExactly("app.a", "app.c");
        assertThat(heard)
                .containsExactly(
                        "1/3 app.a ATTEMPT 1",
                        "1/3 app.a CHANGED 1",
                        "2/3 app.b ATTEMPT 1",
                        "2/3 app.b BLOCKED 1 by the report",
                        "3/3 app.c ATTEMPT 1",
                        "3/3 app.c CHANGED 1",
                        "2/3 app.b ATTEMPT 2",
                        "2/3 app.b BLOCKED 2 by the report",
                        "2/3 app.b ATTEMPT 3",
                        "2/3 app.b BLOCKED 3 by the report");

        assertThat(outcomes(migrations.plan(changes).apply(ApplyOptions.defaults())))
                .containsExactly(Applied.Outcome.ALREADY_SO, Applied.Outcome.CHANGED, Applied.Outcome.ALREADY_SO);
        assertThat(outcomes(plan.apply(ApplyOptions.defaults())))
                .as("also the old plan")
                .containsOnly(Applied.Outcome.ALREADY_SO);
    }

    @Test
    void aReaderIsNamedWhereReadersAreInTheWay() throws Exception {
        try (Connection reader = named("reader").getConnection();
                Statement statement = reader.createStatement()) {
            reader.setAutoCommit(false);
            statement.execute("SELECT * FROM app.b");
            migrations.plan(changes).apply(quick().attempts(1).build());

            assertThatThrownBy(() -> migrations
                            .plan(Unprotect.table("app.b"))
                            .apply(quick().attempts(1).build()))
                    .isInstanceOf(PlanUnfinishedException.class)
                    .hasMessageStartingWith("Applied 0 of 1 steps, and not:\n- app.b after 1 attempts: ")
                    .hasMessageContaining("'reader' of role postgres");
        }
    }

    @Test
    void twoStepsOfOneTableKeepTheirOrder() throws Exception {
        List<Change> both = List.of(AddColumns.table("app.a"), changes.get(0), changes.get(1));
        try (Connection reader = named("reader").getConnection();
                Statement statement = reader.createStatement()) {
            reader.setAutoCommit(false);
            statement.execute("SELECT * FROM app.a");

            assertThatThrownBy(() ->
                            migrations.plan(both).apply(quick().attempts(2).build()))
                    .isInstanceOfSatisfying(
                            PlanUnfinishedException.class,
                            e -> assertThat(outcomes(e.applied()))
                                    .containsExactly(
                                            Applied.Outcome.NOT_DONE,
                                            Applied.Outcome.NOT_DONE,
                                            Applied.Outcome.CHANGED))
                    .hasMessageContaining("\n- app.a after 0 attempts: an earlier step of this table is not done");
        }
        assertThat(isProtected()).containsExactly("app.b");
    }

    @Test
    void aStepThatTheServerRefusesIsNotTriedAgainAndTheOthersAreDone() throws Exception {
        Plan plan = migrations.plan(changes);
        DATABASE.execute("DROP TABLE app.a; ALTER TABLE app.b RENAME COLUMN id TO number");

        assertThatThrownBy(() -> plan.apply(ApplyOptions.defaults()))
                .isInstanceOfSatisfying(
                        PlanUnfinishedException.class,
                        e -> assertThat(outcomes(e.applied()))
                                .containsExactly(
                                        Applied.Outcome.NOT_DONE, Applied.Outcome.NOT_DONE, Applied.Outcome.CHANGED))
                .hasMessageContaining("\n- app.a after 0 attempts: there is no such table. ")
                .hasMessageContaining(
                        "\n- app.b after 1 attempts: ERROR: Protection of app.b refused: it has no column id");
        assertThat(isProtected()).containsExactly("app.c");

        assertThatThrownBy(() -> FenceMigrations.on(readOnly())
                        .plan(Unprotect.table("app.c"))
                        .apply(ApplyOptions.defaults()))
                .isInstanceOf(PlanUnfinishedException.class)
                .hasMessageContaining("\n- app.c after 1 attempts: ERROR: cannot execute ")
                .hasMessageContaining(" in a read-only transaction");
    }

    private static DataSource readOnly() {
        PGSimpleDataSource source = (PGSimpleDataSource) DATABASE.server().dataSource(DATABASE.name());
        source.setOptions("-c default_transaction_read_only=on");
        return source;
    }

    @Test
    void aLostConnectionIsReplacedAndTheStepTriedAgain() throws Exception {
        AtomicBoolean ended = new AtomicBoolean();
        ApplyOptions options = quick().progress(event -> {
                    if (event.stage() == ApplyProgress.Stage.ATTEMPT
                            && event.number() == 2
                            && ended.compareAndSet(false, true)) {
                        DATABASE.execute(
                                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'applier'");
                        Waits.until(
                                DATABASE,
                                "SELECT count(*) = 0 FROM pg_stat_activity WHERE application_name = 'applier'");
                    }
                })
                .build();

        Applied applied = FenceMigrations.on(named("applier")).plan(changes).apply(options);

        assertThat(applied.with(Applied.Outcome.CHANGED)).hasSize(3);
        assertThat(applied.steps().get(1).attempts()).isEqualTo(2);
        assertThat(isProtected()).hasSize(3);
    }

    @Test
    void aCommitWhoseAnswerWasLostIsFoundDone() throws Exception {
        AtomicBoolean lost = new AtomicBoolean();
        DataSource lossy = losing(lost);

        Applied applied =
                FenceMigrations.on(lossy).plan(AddColumns.table("app.a")).apply(quick().build());

        assertThat(lost).isTrue();
        assertThat(outcomes(applied)).containsExactly(Applied.Outcome.CHANGED);
        assertThat(applied.steps().get(0).attempts()).isEqualTo(1);
    }

    /** The first commit happens, and its answer does not arrive. */
    private static DataSource losing(AtomicBoolean lost) {
        return (DataSource) proxy(DataSource.class, DATABASE.source(), (name, result) -> {
            if (!name.equals("getConnection")) {
                return result;
            }
            return proxy(Connection.class, result, (method, answer) -> {
                if (method.equals("commit") && lost.compareAndSet(false, true)) {
                    throw new SQLException("An I/O error occurred while sending to the backend.", "08006");
                }
                return answer;
            });
        });
    }

    /** What becomes of an answer. */
    private interface Answer {
        Object of(String method, Object answer) throws SQLException;
    }

    private static Object proxy(Class<?> type, Object target, Answer answer) {
        return Proxy.newProxyInstance(ApplyTest.class.getClassLoader(), new Class<?>[] {type}, (self, method, args) -> {
            try {
                return answer.of(method.getName(), method.invoke(target, args));
            } catch (InvocationTargetException e) {
                throw e.getCause();
            }
        });
    }

    @Test
    void anInterruptedApplicationStopsBetweenTwoStepsAndLeavesWhatIsDone() throws Exception {
        ApplyOptions options = quick().progress(event -> {
                    if (event.stage() == ApplyProgress.Stage.CHANGED) {
                        Thread.currentThread().interrupt();
                    }
                })
                .build();

        assertThatThrownBy(() -> migrations.plan(changes).apply(options))
                .isInstanceOf(InterruptedException.class)
                .hasMessage("Interrupted while applying; what is done stays.");
        assertThat(Thread.interrupted())
                .as("cleared, as the exception tells it")
                .isFalse();
        assertThat(isProtected()).containsExactly("app.a");
    }

    @Test
    void anInterruptEndsThePauseBetweenTwoRounds() throws Exception {
        try (Connection blocker = named("blocker").getConnection();
                Statement statement = blocker.createStatement()) {
            blocker.setAutoCommit(false);
            statement.execute("INSERT INTO app.a VALUES (1)");
            Thread applying = Thread.currentThread();
            ApplyOptions options = quick().backOff(Duration.ofHours(1))
                    .progress(event -> {
                        if (event.stage() == ApplyProgress.Stage.BLOCKED) {
                            Thread other = new Thread(applying::interrupt);
                            other.setDaemon(true);
                            other.start();
                        }
                    })
                    .build();
            assertThatThrownBy(() -> migrations.plan(changes.get(0)).apply(options))
                    .isInstanceOf(InterruptedException.class);
        }
    }

    @Test
    void severalMayApplyTheSameAtOnce() throws Exception {
        List<Change> all = new ArrayList<>(changes);
        changes.forEach(change -> all.add(new AddColumns(change.table())));
        CyclicBarrier start = new CyclicBarrier(4);
        ExecutorService pool = Executors.newFixedThreadPool(4);
        try {
            List<Future<Applied>> running = new ArrayList<>();
            for (int i = 0; i < 4; i++) {
                Plan plan = migrations.plan(all);
                running.add(pool.submit(() -> {
                    start.await(30, TimeUnit.SECONDS);
                    return plan.apply(quick().lockTimeout(Duration.ofSeconds(5))
                            .attempts(20)
                            .build());
                }));
            }
            for (Future<Applied> applied : running) {
                assertThat(applied.get(60, TimeUnit.SECONDS).with(Applied.Outcome.NOT_DONE))
                        .isEmpty();
            }
        } finally {
            pool.shutdownNow();
        }
        assertThat(isProtected()).hasSize(3);
        assertThat(migrations.plan(all).steps()).allMatch(step -> step.state() == Step.State.ALREADY_SO);
    }

    @Test
    void aConnectionOfAPoolGoesBackAsItCame() throws Exception {
        try (Connection pooled = DATABASE.source().getConnection()) {
            Object unclosed = proxy(Connection.class, pooled, (name, answer) -> answer);
            DataSource pool = (DataSource) proxy(DataSource.class, DATABASE.source(), (name, answer) -> {
                ((Connection) answer).close();
                return Proxy.newProxyInstance(
                        ApplyTest.class.getClassLoader(),
                        new Class<?>[] {Connection.class},
                        (self, method, args) -> method.getName().equals("close")
                                ? null
                                : Proxy.getInvocationHandler(unclosed).invoke(self, method, args));
            });
            try (Statement statement = pooled.createStatement()) {
                statement.execute("SET lock_timeout = '77s'; SET statement_timeout = '88s'");
            }

            FenceMigrations.on(pool).plan(changes).apply(quick().build());

            assertThat(pooled.getAutoCommit()).isTrue();
            try (Statement statement = pooled.createStatement();
                    var row = statement.executeQuery(
                            "SELECT current_setting('lock_timeout'), current_setting('statement_timeout'),"
                                    + " current_setting('idle_in_transaction_session_timeout')")) {
                row.next();
                assertThat(List.of(row.getString(1), row.getString(2), row.getString(3)))
                        .containsExactly("77s", "88s", "0");
            }
        }
        assertThat(isProtected()).hasSize(3);
    }

    @Test
    void optionsOutOfTheirRangeAreRefused() {
        assertThatThrownBy(() ->
                        ApplyOptions.builder().lockTimeout(Duration.ofMillis(9)).build())
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("lockTimeout is PT0.009S; it is from 10 ms to 1 h.");
        assertThatThrownBy(() -> ApplyOptions.builder().attempts(0).build())
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("attempts is 0; one at least is needed.");
        assertThatThrownBy(() ->
                        ApplyOptions.builder().backOff(Duration.ofMillis(-1)).build())
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("backOff is PT-0.001S; it is from 0 to 1 h.");
        assertThat(ApplyOptions.builder().build()).isEqualTo(ApplyOptions.defaults());
        assertThat(ApplyOptions.defaults().lockTimeout()).isEqualTo(Duration.ofSeconds(2));
        assertThat(ApplyOptions.defaults().attempts()).isEqualTo(30);
    }
}
