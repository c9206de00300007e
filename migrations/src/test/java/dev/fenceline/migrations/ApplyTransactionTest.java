package dev.fenceline.migrations;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What the transactions of a plan run under is our choice, and not that of the database's defaults. */
@Tag("server")
class ApplyTransactionTest {

    private Database database;

    @BeforeEach
    void prepare() {
        database = Database.prepared();
    }

    /** The one limits whoever waits for us, the other us: a busy machine may need more than 10 ms from one statement to the next. */
    @ParameterizedTest
    @CsvSource({"10, 1s", "5000, 5s"})
    void itsIsolationIsReadCommittedAndItsIdleTimeIsLimitedApartFromTheWaitForALock(long timeout, String idle)
            throws Exception {
        database.execute("CREATE TABLE account (id int); CREATE TABLE seen (idle text, isolation text);"
                + " CREATE FUNCTION see() RETURNS event_trigger LANGUAGE plpgsql AS $$ BEGIN INSERT INTO public.seen VALUES ("
                + "current_setting('idle_in_transaction_session_timeout'), current_setting('transaction_isolation')); END $$;"
                + " CREATE EVENT TRIGGER see ON ddl_command_end WHEN TAG IN ('CREATE TRIGGER') EXECUTE FUNCTION see();"
                + " ALTER DATABASE " + database.name() + " SET default_transaction_isolation = 'serializable'");
        Plan plan = FenceMigrations.on(database.source())
                .plan(Protect.table("account").lock("account", "id").observe());

        plan.apply(ApplyOptions.builder()
                .lockTimeout(Duration.ofMillis(timeout))
                .backOff(Duration.ofMillis(1))
                .attempts(1000)
                .build());

        assertThat(database.rows("SELECT DISTINCT concat_ws('|', idle, isolation) FROM seen"))
                .containsExactly(idle + "|read committed");
    }

    @Test
    void theSchemaIsInstalledWhateverIsolationTheDatabaseGives() {
        Database bare = Database.empty();
        bare.execute("ALTER DATABASE " + bare.name() + " SET default_transaction_isolation = 'serializable'");

        FenceMigrations.on(bare.source()).install();

        assertThat(FenceMigrations.on(bare.source()).verify(List.of()).differences())
                .isEmpty();
    }
}
