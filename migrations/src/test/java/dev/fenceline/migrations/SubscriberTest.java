package dev.fenceline.migrations;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.fenceline.testkit.PostgresServer;
import dev.fenceline.testkit.PostgresSpec;
import dev.fenceline.testkit.Servers;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** On a subscriber of logical replication the apply worker writes without entering: it has to pass, and nobody else. */
@Tag("server")
class SubscriberTest {

    private static final Servers SERVERS = Servers.embedded();

    private static Database publisher;
    private static Database subscriber;

    @BeforeAll
    static void start() {
        PostgresServer logical = SERVERS.postgres(PostgresSpec.primary().setting("wal_level", "logical"));
        publisher = new Database(logical, logical.newDatabase());
        PostgresServer other = SERVERS.postgres(PostgresSpec.primary());
        subscriber = new Database(other, other.newDatabase());
        for (Database database : List.of(publisher, subscriber)) {
            database.execute("CREATE TABLE account (id int PRIMARY KEY, n int);"
                    + " CREATE TABLE measured (id int PRIMARY KEY) PARTITION BY RANGE (id);"
                    + " CREATE TABLE measured_1 PARTITION OF measured FOR VALUES FROM (0) TO (10)");
            FenceMigrations.on(database.source()).install();
        }
        publisher.execute("CREATE PUBLICATION changes FOR TABLE account, measured");
    }

    @AfterAll
    static void stop() {
        SERVERS.close();
    }

    private static Plan plan(Change... changes) {
        return FenceMigrations.on(subscriber.source()).plan(changes);
    }

    private static void publish(String sql) {
        publisher.execute(sql);
    }

    private static String enabled() {
        return String.join(
                "",
                subscriber.rows("SELECT tgenabled FROM pg_trigger WHERE tgname LIKE 'fenceline%'"
                        + " AND tgrelid IN ('account'::regclass, 'measured'::regclass, 'measured_1'::regclass)"));
    }

    @Test
    void theApplyWorkerPassesAndEverybodyElseIsRefused() throws Exception {
        Protect account = Protect.table("account").lock("account", "id").enforce();
        Protect measured = Protect.table("measured").lock("measured", "id").enforce();
        plan(account, measured).apply(ApplyOptions.defaults());
        assertThat(enabled()).isEqualTo("A".repeat(12));
        subscriber.execute("CREATE SUBSCRIPTION blue CONNECTION 'host="
                + publisher.server().host() + " port="
                + publisher.server().port() + " dbname=" + publisher.name() + " user="
                + publisher.server().superuser()
                + "' PUBLICATION changes");
        Waits.until(subscriber, "SELECT count(*) = 2 FROM pg_subscription_rel WHERE srsubstate = 'r'");

        // The control: as it is protected elsewhere, the worker is stopped by the first change.
        publish("INSERT INTO account VALUES (1, 1)");
        Waits.until(subscriber, "SELECT apply_error_count > 0 FROM pg_stat_subscription_stats WHERE subname = 'blue'");
        assertThat(subscriber.rows("SELECT count(*) FROM account")).containsExactly("0");

        Plan pass = plan(
                Unprotect.table("account").onSubscriber(),
                Unprotect.table("measured").onSubscriber());
        assertThat(pass.toString())
                .contains(
                        "public.account: protected from all but the apply worker of a subscription; so far enforce with locks account:<id>")
                .doesNotContain("warning");
        List<String> before = Snapshot.of(subscriber);
        pass.apply(ApplyOptions.defaults());
        assertThat(enabled()).isEqualTo("O".repeat(12));
        List<String> passing = Snapshot.of(subscriber);
        subscriber.execute(pass.rollbackSql());
        assertThat(Snapshot.difference(before, Snapshot.of(subscriber))).isEmpty();
        subscriber.execute(pass.sql());
        assertThat(Snapshot.difference(passing, Snapshot.of(subscriber))).isEmpty();
        Waits.until(subscriber, "SELECT count(*) = 1 FROM account");
        publish(
                "INSERT INTO measured VALUES (1); UPDATE account SET n = 2; INSERT INTO account VALUES (2, 2); DELETE FROM account WHERE id = 1");
        Waits.until(subscriber, "SELECT count(*) = 1 FROM measured");
        assertThat(subscriber.rows("SELECT id FROM account")).containsExactly("2");

        assertThatThrownBy(() -> Database.run(subscriber.source(), "UPDATE account SET n = 7"))
                .hasMessageContaining("UPDATE on public.account refused: it needs lock 'account:2'");
        assertThatThrownBy(() -> Database.run(subscriber.source(), "TRUNCATE measured_1"))
                .hasMessageContaining("TRUNCATE on public.measured_1 refused");

        // The same migration that protects the publisher's tables knows where it runs.
        assertThat(plan(account, measured).steps()).allMatch(step -> step.state() == Step.State.ALREADY_SO);
        assertThat(plan(account).steps().get(0))
                .hasToString("public.account: enforce with locks account:<id>, but for subscription blue (already so)");
        Plan observe = plan(Protect.table("account").lock("account", "id").observe());
        assertThat(observe.warnings())
                .containsExactly(
                        "public.account: is enforced so far. From now on whoever writes it without its lock passes, and is only"
                                + " recorded.",
                        "public.account: is filled by subscription blue, whose changes pass. When the subscription is dropped,"
                                + " protect the table again.");
        observe.apply(ApplyOptions.defaults());
        publish("INSERT INTO account VALUES (3, 3)");
        Waits.until(subscriber, "SELECT count(*) = 2 FROM account");
        assertThat(subscriber.rows("SELECT count(*) FROM fenceline.violation")).containsExactly("0");

        // After the switch-over it is a table as any other.
        subscriber.execute("DROP SUBSCRIPTION blue");
        assertThat(plan(account, measured).steps()).allMatch(step -> step.state() == Step.State.TO_DO);
        plan(account, measured).apply(ApplyOptions.defaults());
        assertThat(enabled()).isEqualTo("A".repeat(12));
        assertThat(plan(Unprotect.table("account").onSubscriber()).warnings())
                .containsExactly(
                        "public.account: no subscription fills it. Sessions with session_replication_role = replica pass until it"
                                + " is protected again.");
    }
}
