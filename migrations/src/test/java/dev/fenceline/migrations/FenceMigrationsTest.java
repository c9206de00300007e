package dev.fenceline.migrations;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.fenceline.BackendMisconfiguredException;
import dev.fenceline.BackendUnavailableException;
import java.io.IOException;
import java.net.ServerSocket;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.flywaydb.core.Flyway;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.postgresql.ds.PGSimpleDataSource;

@Tag("server")
class FenceMigrationsTest {

    private static final List<String> VERSIONS = List.of("1", "2", "3", "4", "5");
    private static final String SUCCEEDED =
            "SELECT version FROM fenceline.schema_history WHERE success AND version IS NOT NULL ORDER BY installed_rank";

    @Test
    void installingTwiceChangesNothing() {
        Database database = Database.installed();

        FenceMigrations.on(database.source()).install();

        assertThat(database.rows(SUCCEEDED)).isEqualTo(VERSIONS);
        assertThat(database.rows("SELECT fenceline.version_v1()")).containsExactly("5");
    }

    @Test
    void severalProcessesMayInstallAtOnce() throws Exception {
        for (int round = 0; round < 3; round++) {
            Database database = Database.empty();
            int installers = 6;
            CyclicBarrier start = new CyclicBarrier(installers);
            ExecutorService pool = Executors.newFixedThreadPool(installers);
            try {
                List<Future<?>> running = new ArrayList<>();
                for (int i = 0; i < installers; i++) {
                    running.add(pool.submit(() -> {
                        start.await(20, TimeUnit.SECONDS);
                        FenceMigrations.on(database.source()).install();
                        return null;
                    }));
                }
                for (Future<?> future : running) {
                    future.get(60, TimeUnit.SECONDS);
                }
            } finally {
                pool.shutdownNow();
            }
            assertThat(database.rows(SUCCEEDED)).isEqualTo(VERSIONS);
        }
    }

    @Test
    void theHistoryOfAnApplicationIsLeftAlone() {
        Database database = Database.empty();
        database.execute("CREATE TABLE public.customer (id int)");
        Flyway application = Flyway.configure()
                .dataSource(database.source())
                .locations("filesystem:target/no-migrations-here")
                .failOnMissingLocations(false)
                .baselineOnMigrate(true)
                .baselineVersion("7")
                .load();
        application.migrate();

        FenceMigrations.on(database.source()).install();

        assertThat(database.rows("SELECT version FROM public.flyway_schema_history"))
                .containsExactly("7");
        assertThat(database.rows(SUCCEEDED)).isEqualTo(VERSIONS);
        application.validate();
    }

    @Test
    void aSchemaFilledBySomethingElseIsRefusedAndNotBaselined() {
        Database database = Database.empty();
        database.execute("CREATE SCHEMA fenceline; CREATE TABLE fenceline.stranger (id int)");

        assertThatThrownBy(() -> FenceMigrations.on(database.source()).install())
                .isInstanceOf(BackendMisconfiguredException.class)
                .hasMessageStartingWith("Installing the fence schema failed: Found non-empty schema(s) \"fenceline\"")
                .hasMessageEndingWith(
                        "To do: find out who has filled or changed schema fenceline, which is the fence's own.");
        assertThat(database.rows("SELECT to_regclass('fenceline.schema_history')::text"))
                .containsOnlyNulls();
    }

    @Test
    void aRoleThatMayNotCreateASchemaIsToldWhatToRun() {
        Database database = Database.empty();
        String role = database.newRole("Plain ");
        String remedy = "CREATE SCHEMA fenceline AUTHORIZATION \"" + role + "\"";

        assertThatThrownBy(() -> FenceMigrations.on(database.as(role)).install())
                .isInstanceOf(BackendMisconfiguredException.class)
                .hasMessage("Installing the fence schema failed: ERROR: permission denied for database "
                        + database.name() + " (SQLSTATE 42501). To do: have an administrator run: " + remedy + ".");

        database.execute(remedy);
        FenceMigrations.on(database.as(role)).install();
        assertThat(database.rows(SUCCEEDED)).isEqualTo(VERSIONS);
    }

    @Test
    void aSchemaThatAnAdministratorMadeForHimselfIsToldWithHowItBecomesOurs() {
        Database database = Database.empty();
        String role = database.newRole("late_");
        database.execute("CREATE SCHEMA fenceline");
        String remedy = "ALTER SCHEMA fenceline OWNER TO " + role;

        assertThatThrownBy(() -> FenceMigrations.on(database.as(role)).install())
                .isInstanceOf(BackendMisconfiguredException.class)
                .hasMessageContaining("permission denied for schema fenceline (SQLSTATE 42501)")
                .hasMessageEndingWith(
                        "To do: connect as the owner of schema fenceline, or, while it is empty, have him run: "
                                + remedy + ".");

        database.execute(remedy);
        FenceMigrations.on(database.as(role)).install();
        assertThat(database.rows(SUCCEEDED)).isEqualTo(VERSIONS);
    }

    @Test
    void aRoleInstallsIntoASchemaThatAnAdministratorCreatedForIt() {
        Database database = Database.empty();
        String role = database.newRole("owner_");
        database.execute("CREATE SCHEMA fenceline AUTHORIZATION \"" + role + "\"");

        FenceMigrations.on(database.as(role)).install();

        assertThat(database.rows(SUCCEEDED)).isEqualTo(VERSIONS);
    }

    @Test
    void noServerIsToldAsSuch() throws IOException {
        PGSimpleDataSource nowhere = new PGSimpleDataSource();
        try (ServerSocket free = new ServerSocket(0)) {
            nowhere.setPortNumbers(new int[] {free.getLocalPort()});
        }

        assertThatThrownBy(() -> FenceMigrations.on(nowhere).install())
                .isInstanceOf(BackendUnavailableException.class)
                .hasMessageStartingWith(
                        "Installing the fence schema failed: the database cannot be reached (Connection to localhost:")
                .hasMessageEndingWith("Check its address and try again; what was installed so far stays.");
    }

    @ParameterizedTest
    @ValueSource(strings = {"app_", "App User ", "o'brien \"x\"; DROP SCHEMA fenceline; --"})
    void aGrantedRoleCallsFunctionsAndTouchesNoTable(String prefix) throws SQLException {
        Database database = Database.prepared();
        String role = database.newRole(prefix);
        var app = database.as(role);
        String claim = "SELECT admitted FROM fenceline.claim_v1('a', 1, gen_random_uuid(), 1000)";
        assertThatThrownBy(() -> Database.run(app, claim))
                .hasMessageContaining("permission denied for schema fenceline");

        FenceMigrations.on(database.source()).grantTo(role);

        assertThat(Database.run(app, claim)).containsExactly("t");
        assertThat(Database.run(app, "SELECT newest_token FROM fenceline.mark_v1('a')"))
                .containsExactly("1");
        String me = "ARRAY['a'], ARRAY[1::bigint], (SELECT ARRAY[newest_holder] FROM fenceline.mark_v1('a'))";
        for (String sql : List.of(
                "SELECT claimed_at FROM fenceline.claim_v2(" + me + ", 1000)",
                "SELECT entered_xid FROM fenceline.enter_v2(" + me + ", 1000, 1000)",
                "SELECT entered_xid FROM fenceline.enter_concurrent_v1(" + me + ", 1000, 1000)",
                "SELECT begun_at FROM fenceline.enter_reading_v1(" + me + ", 1000, 1000)",
                "SELECT fenceline.leave_reading_v1(" + me + ", now())",
                "SELECT held_at FROM fenceline.hold_v1(" + me + ", 1000, 1000, fenceline.seen_v1(ARRAY['a']))",
                "SELECT held_at FROM fenceline.hold_concurrent_v1(" + me + ", 1000, 1000)",
                "UPDATE fenceline.holding_v1 SET claimed_at = claimed_at WHERE lock = 'a' AND version::text <> ''"
                        + " AND fenceline.limit_statement_v1(1000, 1000) RETURNING fenceline.note_held_v1(lock)",
                "SELECT fenceline.record_v1(gen_random_uuid(), now(), 1)",
                "SELECT fenceline.changed_v1(gen_random_uuid())",
                "SELECT newest_token FROM fenceline.marks_v1(ARRAY['a'])")) {
            assertThat(Database.run(app, sql)).as(sql).hasSize(1);
        }
        assertThat(Database.run(app, "SELECT * FROM fenceline.blockers_v1(ARRAY['a'], ARRAY[2::bigint])"))
                .isEmpty();
        for (String sql : List.of(
                "SELECT * FROM fenceline.guard",
                "UPDATE fenceline.guard SET token = 5",
                "DELETE FROM fenceline.operation",
                "SELECT * FROM fenceline.schema_history")) {
            assertThatThrownBy(() -> Database.run(app, sql)).hasMessageContaining("permission denied for table");
        }
        // Through the view a mark is locked, and nothing else.
        for (String sql : List.of(
                "UPDATE fenceline.holding_v1 SET token = token",
                "UPDATE fenceline.holding_v1 SET holder = holder",
                "UPDATE fenceline.holding_v1 SET lock = lock",
                "INSERT INTO fenceline.holding_v1 (lock, token, holder, claimed_at) SELECT 'b', token, holder, now()"
                        + " FROM fenceline.holding_v1",
                "DELETE FROM fenceline.holding_v1")) {
            assertThatThrownBy(() -> Database.run(app, sql))
                    .as(sql)
                    .hasMessageContaining("permission denied for view holding_v1");
        }
        for (String sql : List.of(
                "SELECT fenceline.shorten_timeout_v1('lock_timeout', 1)",
                "SELECT fenceline.require_primary_v1('x')",
                "SELECT fenceline.prune_operations_v1(1)",
                "SELECT fenceline.has_entered_v1(ARRAY['a'], ARRAY[1::bigint], ARRAY[gen_random_uuid()])")) {
            assertThatThrownBy(() -> Database.run(app, sql)).hasMessageContaining("permission denied for function");
        }
    }

    /** As after a dump that was restored without rights: PostgreSQL lets everybody call a function, and only the schema is closed. */
    @Test
    void aFunctionThatIsOpenToEverybodyIsClosedBeforeSomebodyIsLetIn() throws SQLException {
        Database database = Database.prepared();
        database.execute("GRANT EXECUTE ON FUNCTION fenceline.bypass(text) TO PUBLIC");
        String role = database.newRole("later");

        FenceMigrations.on(database.source()).grantTo(role);

        assertThatThrownBy(() -> Database.run(database.as(role), "SELECT fenceline.bypass('because I can')"))
                .isInstanceOf(SQLException.class)
                .hasMessageContaining("permission denied for function bypass");
        assertThat(Database.run(database.as(role), "SELECT fenceline.version_v1()"))
                .containsExactly(Integer.toString(SchemaText.VERSION));
    }

    @Test
    void aSchemaWithoutItsHistoryIsToldFromOneOfSomebodyElse() {
        Database database = Database.prepared();
        database.execute("DELETE FROM fenceline.schema_history");

        assertThatThrownBy(() -> FenceMigrations.on(database.source()).install())
                .isInstanceOf(BackendMisconfiguredException.class)
                .hasMessage(
                        "Installing the fence schema failed: ERROR: relation \"guard\" already exists (SQLSTATE 42P07). To do: bring the"
                                + " rows of fenceline.schema_history too, if this schema came from a dump of definitions alone; if not, find out"
                                + " who has made what is in the way.");
    }

    /** PostgreSQL only warns when somebody grants what he has himself and may not pass on, and sessions may not hear of warnings. */
    @ParameterizedTest
    @ValueSource(strings = {"notice", "error"})
    void whoMayNotPassARightOnIsRefusedAndNothingIsGranted(String heard) {
        Database database = Database.prepared();
        String app = database.newRole("app_");
        String other = database.newRole("other_");
        FenceMigrations.on(database.source()).grantTo(app);
        database.execute("ALTER ROLE \"" + app + "\" SET client_min_messages = " + heard);

        assertThatThrownBy(() -> FenceMigrations.on(database.as(app)).grantTo(other))
                .isInstanceOf(BackendMisconfiguredException.class)
                .hasMessageMatching("Granting the use of fences to role '" + other
                        + "' failed: (WARNING: )?no privileges were granted for \"fenceline\" \\(SQLSTATE 01007\\). To do: connect as"
                        + " the owner of schema fenceline\\.");
        assertThat(database.rows("SELECT has_schema_privilege('" + other + "', 'fenceline', 'USAGE')::text"))
                .containsExactly("false");
    }

    @Test
    void aRoleThatDoesNotExistIsNamed() {
        Database database = Database.prepared();

        assertThatThrownBy(() -> FenceMigrations.on(database.source()).grantTo("nobody here"))
                .isInstanceOf(BackendMisconfiguredException.class)
                .hasMessage(
                        "Granting the use of fences to role 'nobody here' failed: ERROR: role \"nobody here\" does not"
                                + " exist (SQLSTATE 42704). To do: create the role first: CREATE ROLE"
                                + " \"nobody here\" LOGIN.");
    }

    @Test
    void grantingBeforeInstallingSaysSo() {
        Database database = Database.empty();

        assertThatThrownBy(() -> FenceMigrations.on(database.source()).grantTo("postgres"))
                .isInstanceOf(BackendMisconfiguredException.class)
                .hasMessageContaining(
                        "schema \"fenceline\" does not exist (SQLSTATE 3F000). To do: install the schema of this"
                                + " release first: FenceMigrations.on(owner).install().");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "55P03 | had to wait for another session for longer than lock_timeout or statement_timeout allows (said)",
                "57014 | had to wait for another session for longer than lock_timeout or statement_timeout allows (said)",
                "08001 | the database cannot be reached (said)",
                " | the data source gave no usable connection (said)",
            })
    void aFailureThatPassesSaysWhatItWaitedFor(String state, String text) {
        SQLException said = new SQLException("said", state);

        assertThat(FenceMigrations.failure("Installing the fence schema", "nothing", said, said))
                .isInstanceOf(BackendUnavailableException.class)
                .hasMessageStartingWith("Installing the fence schema failed: ")
                .hasMessageContaining(text)
                .hasCause(said);
    }
}
